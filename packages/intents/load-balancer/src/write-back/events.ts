import type { Condition, ObjectEvent } from '@spout/kube'

/**
 * The events for a change of the conditions: why something is not served as the object says, that the nodes serve it,
 * and that no member answers, or one does again.
 */
export function eventsOf(
  before: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[],
  after: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[],
): readonly ObjectEvent[] {
  return after.flatMap((now): ObjectEvent[] => {
    const known = before.find(({ type }) => type === now.type)
    if (known?.status === now.status && known.reason === now.reason && known.message === now.message) return []
    const { status, reason, message: note } = now
    switch (now.type) {
      case 'Accepted':
        return status === 'False' ? [{ type: 'Warning', reason, action: 'AcceptLoadBalancer', note }] : []
      case 'Programmed':
        // A refusal has an event of its own.
        if (status === 'Unknown' || after.some(({ type, reason: why }) => type === 'Accepted' && why === reason))
          return []
        return [{ type: status === 'True' ? 'Normal' : 'Warning', reason, action: 'ProgramLoadBalancer', note }]
      case 'Serving':
        if (status === 'False') return [{ type: 'Warning', reason, action: 'ServeClients', note }]
        // That a member answers is reported only after a report that none did.
        return known?.status === 'False' ? [{ type: 'Normal', reason, action: 'ServeClients', note }] : []
      default:
        return []
    }
  })
}
