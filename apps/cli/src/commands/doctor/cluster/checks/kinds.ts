import type { Catalogue, Found } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type InstalledKind, readKinds } from '../readings/kinds.ts'

const FINDINGS = {
  KindMissing: {
    level: 'error',
    what: 'a kind of `spout.dev` is not there',
    why: 'Its objects cannot be written, and who watches them waits.',
    fix: '`kubectl apply --server-side --filename deploy/kubernetes/crds`',
  },
  KindUnserved: {
    level: 'error',
    what: 'the API server does not serve a kind that is there',
    why: 'Its objects cannot be written, and who watches them waits.',
    fix: '`kubectl describe crd NAME` names the definition that has its names',
  },
  KindOld: {
    level: 'warning',
    what: "a kind lacks fields that this command's version has",
    why: 'The API server drops such fields from objects that have them.',
    fix: '`kubectl apply --server-side --filename deploy/kubernetes/crds`, of the version that is installed',
  },
} as const satisfies Catalogue

const APPLY = 'kubectl apply --server-side --force-conflicts --filename deploy/kubernetes/crds'

export const judgeKinds = (kinds: readonly InstalledKind[]): readonly Found<keyof typeof FINDINGS>[] =>
  kinds.flatMap(({ name, installed }): readonly Found<keyof typeof FINDINGS>[] => {
    if (installed === null) return [{ code: 'KindMissing', subject: name, message: 'It is not there.', fix: APPLY }]
    const { unserved, lacking } = installed
    if (unserved !== null) {
      const message = `It is not served: ${unserved}.`
      return [{ code: 'KindUnserved', subject: name, message, fix: `kubectl describe crd ${name}` }]
    }
    const [first] = lacking
    if (first === undefined) return []
    const more = lacking.length === 1 ? '' : `, and ${lacking.length - 1} more`
    return [{ code: 'KindOld', subject: name, message: `It lacks ${first}${more}.`, fix: APPLY }]
  })

export const kinds = clusterCheckOf({
  name: 'kinds',
  catalogue: FINDINGS,
  read: readKinds,
  judge: judgeKinds,
  right: (found) =>
    found.length === 0 ? 'Nothing here needs them.' : `All ${found.length} are as this command has them.`,
})
