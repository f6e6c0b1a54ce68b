import type { TellUnowned } from '@spout/connector'
import { type EventRecorder, eventsOfKind, type Resource } from '@spout/kube'

/** Reports objects that belong to no project: it writes an event on each. */
export function unownedEvents(events: EventRecorder, resource: Resource): TellUnowned {
  const tell = eventsOfKind(events, resource)
  return (object, { reason, message }) => tell(object, { type: 'Warning', reason, action: 'Assign', note: message })
}
