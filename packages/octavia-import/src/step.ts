import type { Attributes } from '@spout/octavia-client'
import type { Kind } from './kinds.ts'
import type { Note, TranslateOptions } from './translate.ts'

/** The plan for one object. */
export interface Step {
  readonly kind: Kind
  readonly id: string
  /** For people: kind, name and id. */
  readonly title: string
  /** Null for an object outside of load balancers. */
  readonly loadBalancerId: string | null
  readonly result: 'create' | 'equal' | 'differs' | 'refused'
  readonly notes: readonly Note[]
  /** Ids of objects that must exist in Spout before. */
  readonly needs: readonly string[]
  /** The request that creates it. Null when it is not created, or when the request of its parent creates it. */
  readonly request: Request | null
}

export interface Request {
  readonly path: string
  readonly root: string
  readonly body: Attributes
  /** Absent: load-balancer. */
  readonly api?: 'network'
  /** Absent: create. */
  readonly method?: 'update'
  /**
   * The id of the load balancer whose port becomes the `port_id`. The port exists only after the load balancer was
   * created.
   */
  readonly portOf?: string
}

/** Tells what Spout's Octavia API would refuse. Objects are added in the order in which they would be created. */
export interface Trial {
  /** @returns the text of the fault; null when the object would be accepted */
  add(kind: Kind, body: Attributes, parentId: string | null): string | null
}

export interface PlanOptions extends TranslateOptions {
  /** A trial of a new load balancer. */
  readonly newTrial: () => Trial
}
