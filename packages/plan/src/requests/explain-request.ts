import type { RouteAction, RouteCondition } from '@spout/model'
import { type AskedRequest, conditionHolds, partsOf } from './request-conditions.ts'

/** The part of a route that says what happens to a request. */
export interface AskedRoute {
  readonly enabled: boolean
  readonly conditions: readonly RouteCondition[]
  readonly action: RouteAction
}

/** Why a route takes the request, or does not. */
export type RouteVerdict =
  | { readonly is: 'takes' }
  | { readonly is: 'disabled' }
  /** The first condition that does not hold, and what the request has in its place. */
  | {
      readonly is: 'differs'
      readonly condition: RouteCondition
      readonly position: number
      readonly has: readonly string[]
    }
  /** All its conditions hold, but an earlier route takes the request. */
  | { readonly is: 'later' }

export interface RouteDecision<Route> {
  readonly route: Route
  readonly verdict: RouteVerdict
}

export interface RequestDecision<Route> {
  /** All routes in their order, which is the order in which they are tried. */
  readonly routes: readonly RouteDecision<Route>[]
  /** The route that takes the request; null if none does. */
  readonly taken: Route | null
}

/** Which route of a listener takes the request, and why each of the others does not. Pure. */
export function explainRequest<Route extends AskedRoute>(
  { routes }: { readonly routes: readonly Route[] },
  request: AskedRequest,
): RequestDecision<Route> {
  let taken: Route | null = null
  const decided = routes.map((route) => {
    const verdict = verdictOf(route, request, taken !== null)
    if (verdict.is === 'takes') taken = route
    return { route, verdict }
  })
  return { routes: decided, taken }
}

function verdictOf({ enabled, conditions }: AskedRoute, request: AskedRequest, isTaken: boolean): RouteVerdict {
  if (!enabled) return { is: 'disabled' }
  const position = conditions.findIndex((condition) => !conditionHolds(condition, request))
  const condition = conditions[position]
  if (condition !== undefined) return { is: 'differs', condition, position, has: partsOf(condition, request) }
  return { is: isTaken ? 'later' : 'takes' }
}
