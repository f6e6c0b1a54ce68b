import type { TellUnowned } from '@spout/connector'
import type { EventRecorder } from '@spout/kube'

/** Tells of objects of no project by an event on each. */
export const unownedEvents =
  (events: EventRecorder, { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): TellUnowned =>
  ({ metadata: { namespace, name, uid } }, { reason, message }) =>
    events.record({
      regarding: { apiVersion, kind, namespace, name, uid },
      ...{ type: 'Warning', reason, action: 'Assign', note: message },
    })
