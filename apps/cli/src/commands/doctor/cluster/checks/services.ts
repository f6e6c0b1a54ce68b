import { type Catalogue, type Found, runbook } from '@spout/runtime/findings'
import { clusterCheckOf } from '../cluster-check.ts'
import { type LookedAtService, readServices, type ServicesReading } from '../readings/services.ts'

const FINDINGS = {
  ServiceRefused: {
    level: 'warning',
    what: 'condition `spout.dev/Programmed` of a Service is False; one finding for each reason',
    why: 'Clients do not reach it, or not as it says.',
    fix: '`spout explain service NAMESPACE/NAME --kubeconfig FILE`',
  },
  ServiceUnheeded: {
    level: 'error',
    what: 'a Service of type LoadBalancer that is ours has no condition of ours, and has not been changed for a minute',
    why: 'Nobody acts on it: no connector works.',
    fix: '`kubectl --namespace NAMESPACE logs deployment/connector`',
  },
} as const satisfies Catalogue
type Finding = Found<keyof typeof FINDINGS>

/** A connector acts within a second. */
const SOON_MS = 60_000

export function judgeServices({ namespace, services }: ServicesReading): readonly Finding[] {
  const refused = services.filter(({ programmed }) => programmed?.status === 'False')
  const unheeded = services.filter(({ programmed, unchangedMs }) => programmed === null && (unchangedMs ?? 0) > SOON_MS)
  const [first] = unheeded
  return [
    ...(first === undefined ? [] : [nobodyActs(first, unheeded.length - 1, namespace ?? '')]),
    ...[...Map.groupBy(refused, ({ programmed }) => programmed?.reason)].map(([reason, alike]): Finding => {
      const [{ name, programmed }] = alike as [LookedAtService]
      const more = alike.length === 1 ? '' : ` ${alike.length - 1} more have the reason ${reason}.`
      return {
        ...{ code: 'ServiceRefused', subject: name, message: `${reason}: ${programmed?.message}${more}` },
        fix: `spout explain service ${name} --kubeconfig FILE`,
      }
    }),
  ]
}

const nobodyActs = ({ name }: LookedAtService, more: number, namespace: string): Finding => ({
  ...{ code: 'ServiceUnheeded', subject: name },
  message: `No connector has written its status${more === 0 ? '' : `, nor that of ${more} more`}.`,
  fix: `kubectl --namespace ${namespace} logs deployment/connector; ${runbook('No connector works')}`,
})

export const services = clusterCheckOf({
  name: 'Services',
  catalogue: FINDINGS,
  read: readServices,
  judge: judgeServices,
  right: ({ namespace, services: ours }) =>
    namespace === null
      ? 'No connector runs here.'
      : `${ours.length} of type LoadBalancer are ours, and none is refused.`,
})
