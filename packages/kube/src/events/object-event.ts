import type { KubeObject, Resource } from '../types/index.ts'
import type { EventDraft, EventRecorder } from './event-recorder.ts'

/** An event, except for the object that it is about. */
export type ObjectEvent = Pick<EventDraft, 'type' | 'reason' | 'action' | 'note'>

/** Records an event about an object, and returns at once. An event that cannot be written is no error. */
export type TellEvent = (object: KubeObject, event: ObjectEvent) => void

/** Records events about the objects of one kind. */
export const eventsOfKind =
  (events: EventRecorder, { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>): TellEvent =>
  ({ metadata: { namespace, name, uid } }, event) =>
    events.record({ regarding: { apiVersion, kind, namespace, name, uid }, ...event })
