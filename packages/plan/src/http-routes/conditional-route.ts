import type { RouteCondition } from '@spout/model'

/** The part of a route that the compiler reads. */
export interface ConditionalRoute {
  readonly conditions: readonly RouteCondition[]
}
