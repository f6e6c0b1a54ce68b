import type { KubeObject, ObjectReference } from './object-meta.ts'

/** events.k8s.io/v1 Event. */
export interface Event extends KubeObject {
  /** MicroTime of the first observation. */
  readonly eventTime: string
  readonly series?: EventSeries
  readonly reportingController: string
  readonly reportingInstance: string
  /** What was done or tried, CamelCase. */
  readonly action: string
  /** Why, CamelCase. */
  readonly reason: string
  readonly regarding?: ObjectReference
  readonly related?: ObjectReference
  /** For people; at most 1,024 bytes. */
  readonly note?: string
  readonly type: 'Normal' | 'Warning'
}

export interface EventSeries {
  readonly count: number
  /** MicroTime. */
  readonly lastObservedTime: string
}
