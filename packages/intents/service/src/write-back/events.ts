import { CONDITION_SERVING, NAMESPACE_MOVED, withPage } from '@spout/connector'
import type { Condition, ObjectEvent } from '@spout/kube'
import type { StatusNotice } from '@spout/model'
import { CONDITION_EXTERNAL_IPS, CONDITION_PORTS_ERROR, CONDITION_PROGRAMMED } from '../names.ts'
import type { WrittenStatus } from './status.ts'

/**
 * The events for a change of the status. Each reason for a refusal is reported once. A Service that `waits` for the
 * nodes gets no event that it is not programmed.
 */
export function eventsOf(
  before: readonly Condition[],
  wanted: WrittenStatus,
  progress: 'waits' | 'decided' = 'decided',
): readonly ObjectEvent[] {
  const changed = wanted.conditions.filter((condition) => {
    const known = before.find(({ type }) => type === condition.type)
    return (
      known?.status !== condition.status || known.reason !== condition.reason || known.message !== condition.message
    )
  })
  return changed.flatMap(({ type, status, reason, message }): ObjectEvent[] => {
    if (type === CONDITION_PORTS_ERROR) return [{ type: 'Warning', reason, action: 'BalancePorts', note: message }]
    if (type === CONDITION_EXTERNAL_IPS) return [{ type: 'Warning', reason, action: 'ClaimExternalIPs', note: message }]
    if (type === CONDITION_SERVING) {
      // That it answers is reported only after a report that it did not.
      if (status === 'False') return [{ type: 'Warning', reason, action: 'ServeClients', note: message }]
      const failed = before.some((known) => known.type === CONDITION_SERVING && known.status === 'False')
      return failed ? [{ type: 'Normal', reason, action: 'ServeClients', note: message }] : []
    }
    if (type !== CONDITION_PROGRAMMED || progress === 'waits' || reason === 'Programmed') return []
    // A true condition with another reason contains a notice, such as that no node can take traffic.
    return [
      {
        type: 'Warning',
        reason,
        action: status === 'True' && !NOT_OF_MEMBERS.has(reason) ? 'ChooseMembers' : 'BalanceService',
        note: message,
      },
    ]
  })
}

/** Reasons of notices that are not about members. */
const NOT_OF_MEMBERS: ReadonlySet<string> = new Set<StatusNotice['reason'] | typeof NAMESPACE_MOVED>([
  NAMESPACE_MOVED,
  'LoadBalancerClassDisabled',
  'LoadBalancerClassClosed',
  'AvailabilityZoneDisabled',
])

/**
 * The event that the nodes have confirmed the Service.
 * @param addresses the Service's addresses as one text
 * @param page where the web page shows its load balancer; null for none
 */
export const works = (addresses: string, page: string | null): ObjectEvent => ({
  type: 'Normal',
  reason: 'Programmed',
  action: 'BalanceService',
  note: withPage(`${addresses}: the nodes that announce it serve it.`, page),
})

/** The event that nodes have not confirmed the withdrawal in time. */
export const notWithdrawn = (nodes: readonly string[]): ObjectEvent => ({
  type: 'Warning',
  reason: 'NotWithdrawn',
  action: 'ReleaseLoadBalancer',
  note: `The load balancer is gone, but ${nodes.length === 0 ? 'a node' : `node ${nodes.join(', ')}`} has not confirmed that it no longer answers for the address.`,
})

export const RELEASED: ObjectEvent = {
  type: 'Normal',
  reason: 'LoadBalancerReleased',
  action: 'ReleaseLoadBalancer',
  note: 'The load balancer is gone and its address is free.',
}
