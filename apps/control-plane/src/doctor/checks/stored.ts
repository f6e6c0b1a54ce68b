import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { readStored, type StoredReading } from '../readings/stored.ts'

const FINDINGS = {
  StoreDamaged: {
    level: 'error',
    what: "SQLite finds the store's file damaged",
    why: 'Objects may be lost or wrong, and the next start may refuse it. Nodes go on with what they have.',
    fix: '`systemctl stop spout-control-plane`, and restore the last back-up (operations.md)',
  },
} as const satisfies Catalogue

export const judgeStored = (reading: StoredReading): readonly Found<keyof typeof FINDINGS>[] =>
  (reading?.damages ?? []).map((words) => ({
    ...{ code: 'StoreDamaged', subject: reading?.file ?? null, message: `${words.replaceAll(/\s+/g, ' ')}.` },
    fix: 'systemctl stop spout-control-plane; restore the last back-up: docs/operations.md, "State"',
  }))

export const stored = checkOf({
  name: 'store',
  catalogue: FINDINGS,
  read: readStored,
  judge: judgeStored,
  right: (reading) => {
    if (reading === null) return 'The store is no file here.'
    return reading.used ? `A control plane uses ${reading.file}.` : `${reading.file} is whole.`
  },
})
