import type { RouteCondition } from '@spout/model'

/** What the compiler reads of a route. */
export interface ConditionalRoute {
  readonly conditions: readonly RouteCondition[]
}
