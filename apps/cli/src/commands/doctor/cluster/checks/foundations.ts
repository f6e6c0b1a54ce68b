import { type Catalogue, type Found, runbook } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type FoundationsReading, readFoundations } from '../readings/foundations.ts'

const FINDINGS = {
  VolumeMissing: {
    level: 'error',
    what: "the claim of the control plane's volume is not bound",
    why: 'The pod of the control plane does not start, and all others wait for it.',
    fix: '`kubectl --namespace NAMESPACE describe pvc control-plane`; a StorageClass, or `store.kind=cluster` of the chart',
  },
  AuthorityUnpublished: {
    level: 'error',
    what: 'ConfigMap `authority` has no certificate',
    why: 'The control plane publishes it when it starts. Without it no other pod starts.',
    fix: '`kubectl --namespace NAMESPACE logs deployment/control-plane`',
  },
  AuthorityEnds: {
    level: 'warning',
    what: 'the authority of the control plane ends within half a year',
    why: 'No node and no server certificate is valid longer than it. Every node must enrol again with a new one.',
    fix: 'plan it: docs/operations.md, "State"',
  },
  NobodyWorks: {
    level: 'error',
    what: 'pods of the connector are ready, and none has the Lease',
    why: 'Services stay as they are, and new ones wait.',
    fix: '`kubectl --namespace NAMESPACE logs deployment/connector`',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

const HALF_YEAR_MS = 182 * 86_400_000
/** Clocks of the API server and of the connector's node may differ by as much, and the former is known to ten seconds. */
const DOUBT_MS = 30_000

export function judgeFoundations(reading: FoundationsReading): readonly Finding[] {
  const { namespace, claim, authorityEnds, now, lease } = reading
  if (namespace === null) return []
  const kubectl = `kubectl --namespace ${namespace}`
  return [
    ...(claim === null || claim.phase === 'Bound' ? [] : [unbound(claim, kubectl)]),
    ...ofAuthority(authorityEnds, now, kubectl),
    ...(lease === null ? [] : ofLease(lease, kubectl)),
  ]
}

const unbound = (
  { name, phase, storageClass }: NonNullable<FoundationsReading['claim']>,
  kubectl: string,
): Finding => ({
  ...{ code: 'VolumeMissing', subject: `persistentvolumeclaim/${name}` },
  message: `It is ${phase}${storageClass === null ? ', and names no StorageClass' : ` of StorageClass ${storageClass}`}.`,
  fix: `${kubectl} describe pvc ${name}; a default StorageClass, a PersistentVolume of 1 GiB, or store.kind=cluster of the chart`,
})

function ofAuthority(ends: Date | null, now: Date | null, kubectl: string): readonly Finding[] {
  if (ends === null)
    return [
      {
        ...{ code: 'AuthorityUnpublished', subject: 'configmap/authority', message: 'It has no ca.crt.' },
        fix: `${kubectl} logs deployment/control-plane; ${runbook('No connector works')}`,
      },
    ]
  if (now === null || ends.getTime() - now.getTime() > HALF_YEAR_MS) return []
  const message = `It ends ${ends.toISOString()}.`
  return [{ code: 'AuthorityEnds', subject: 'configmap/authority', message, fix: 'docs/operations.md, "State"' }]
}

function ofLease({ holder, expiredMs }: NonNullable<FoundationsReading['lease']>, kubectl: string): readonly Finding[] {
  if (holder !== '' && expiredMs <= DOUBT_MS) return []
  const message =
    holder === ''
      ? 'Nobody has it.'
      : `${holder.split('_')[0]} has not renewed it for ${Math.round(expiredMs / 1000)} s.`
  const fix = `${kubectl} logs deployment/connector; ${runbook('No connector works')}`
  return [{ code: 'NobodyWorks', subject: 'lease/spout-connector', message, fix }]
}

export const foundations = clusterCheckOf({
  name: 'foundations',
  catalogue: FINDINGS,
  read: readFoundations,
  judge: judgeFoundations,
  right: ({ namespace, claim, lease }) =>
    namespace === null
      ? 'No control plane runs here.'
      : [
          claim === null ? 'The store needs no volume' : `persistentvolumeclaim/${claim.name} is bound`,
          ...(lease === null ? [] : [`connector ${lease.holder.split('_')[0]} works`]),
        ]
          .join(', ')
          .concat('.'),
})
