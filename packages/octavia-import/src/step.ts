import type { Attributes } from '@spout/octavia-client'
import type { Kind } from './kinds.ts'
import type { Note, TranslateOptions } from './translate.ts'

/** What becomes of one object. */
export interface Step {
  readonly kind: Kind
  readonly id: string
  /** For people: kind, name and id. */
  readonly title: string
  /** Null for what is not inside of one. */
  readonly loadBalancerId: string | null
  readonly verdict: 'create' | 'equal' | 'differs' | 'refused'
  readonly notes: readonly Note[]
  /** Objects that must be in Spout before it. */
  readonly needs: readonly string[]
  /** How it is created; null when it is not, or in the request of its parent. */
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
  /** The load balancer whose port is the `port_id`; it has one once it is created. */
  readonly portOf?: string
}

/** Says what Spout's Octavia API refuses, object by object as they are created. */
export interface Trial {
  /** @returns the text of the fault; null when the object would be accepted */
  add(kind: Kind, body: Attributes, parentId: string | null): string | null
}

export interface PlanOptions extends TranslateOptions {
  /** A trial of a new load balancer. */
  readonly newTrial: () => Trial
}
