import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ObjectRow } from '../object-rows.ts'
import type { LeaseRow } from './entry.ts'
import { packedLong, unpackedText } from './packed.ts'

/** Where a log is at. */
export interface Place {
  /** Of the entry. */
  readonly number: number
  readonly id: string
  /** The newest sequence. */
  readonly head: number
}

/** Everything that is stored, as it is after an entry of the log. */
export interface Snapshot extends Place {
  /** Changes up to this sequence are forgotten. */
  readonly floor: number
  readonly leases: readonly LeaseRow[]
  readonly rows: readonly ObjectRow[]
}

type StoredRow = readonly [kind: string, id: string, scope: string | null, sequence: number, text: string]

/** So many objects are written between two turns of the event loop. */
const AT_ONCE = 256

/** As data of a record: a line of JSON for what is not an object, and one for each object. */
export async function packedSnapshot({ rows, ...rest }: Snapshot): Promise<string> {
  const lines = [JSON.stringify(rest)]
  for (const [index, { kind, id, scope, sequence, text }] of rows.entries()) {
    lines.push(JSON.stringify([kind, id, scope, sequence, text] satisfies StoredRow))
    if (index % AT_ONCE === 0) await nextTurn()
  }
  return packedLong(lines.join('\n'))
}

export async function unpackedSnapshot(data: string): Promise<Snapshot> {
  const [first = '', ...lines] = (await unpackedText(data)).split('\n')
  const rows = lines.map((line): ObjectRow => {
    const [kind, id, scope, sequence, text] = JSON.parse(line) as StoredRow
    return { kind, id, scope, sequence, text }
  })
  return { ...(JSON.parse(first) as Omit<Snapshot, 'rows'>), rows }
}
