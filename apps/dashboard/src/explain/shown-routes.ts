import type { RouteDecision } from '@spout/plan/requests'

/** More are not shown. */
const MOST = 40

interface ShownRoutes<Route> {
  readonly shown: readonly { readonly at: number; readonly decision: RouteDecision<Route> }[]
  /** How many are not shown. */
  readonly left: number
}

/** The first routes of a long list, and in any case those that match. `at` is the position in the whole list. */
export function shownRoutes<Route>(routes: readonly RouteDecision<Route>[]): ShownRoutes<Route> {
  const all = routes.map((decision, at) => ({ at, decision }))
  if (all.length <= MOST) return { shown: all, left: 0 }
  const matching = all.filter(({ decision: { verdict } }) => verdict.is === 'takes' || verdict.is === 'later')
  const kept = new Set([...matching.slice(0, MOST / 2), ...all.slice(0, MOST / 2)])
  return { shown: [...kept].sort((a, b) => a.at - b.at), left: all.length - kept.size }
}
