import type { RouteContent } from '@spout/connector'
import { MOST_CONDITION_VALUES, MOST_ROUTE_CONDITIONS, type RouteCondition, routeCondition } from '@spout/model'
import { passesTls } from '../fields/ends-tls.ts'
import { ANY_HOST, bySpecificity, intersection, isWildcard } from '../fields/hostnames.ts'
import { closed } from '../rules/last-routes.ts'
import { hostConditions } from '../rules/matches.ts'
import type { JudgedListener } from './listeners.ts'

/**
 * The routes of listeners that pass TLS on: those of the listener with the most specific name first. The API asks that a
 * connection with a name that no route has is closed; without the last route it would get an alert. Where others of the
 * port end TLS, these get the names that are of no listener here, and those that they have more specifically.
 * @param all listeners of the port
 */
export function passedRoutes(
  listeners: readonly JudgedListener[],
  all: readonly JudgedListener[],
  routesOf: (listener: JudgedListener) => readonly RouteContent[],
): readonly RouteContent[] {
  const ending = all.filter(({ listener }) => !passesTls(listener)).map(({ host }) => host)
  const ordered = [...listeners].sort((a, b) => bySpecificity(a.host, b.host))
  const routes = ordered.flatMap((one) => {
    const own = [...routesOf(one), closed(one.host)]
    const others = ending.filter((host) => host !== one.host && intersection(host, one.host) === host)
    if (others.length === 0) return own
    const conditions = noneOf(others)
    return own.map((route): RouteContent => ({ ...route, conditions: [...route.conditions, ...conditions] }))
  })
  const isWhole = ending.length > 0 || ordered.some(({ host }) => host === ANY_HOST)
  return isWhole ? routes : [...routes, closed(ANY_HOST)]
}

/** No route of a listener that passes TLS on has more: all its hosts are of one kind. */
const MOST_OWN_CONDITIONS = 1

/** What lets in none of these hosts. More than a route can exclude, some 6,000, are not excluded. */
const noneOf = (hosts: readonly string[]): readonly RouteCondition[] =>
  [hosts.filter(isWildcard), hosts.filter((host) => !isWildcard(host))]
    .flatMap((same) => chunks(same, MOST_CONDITION_VALUES))
    .flatMap((some) => hostConditions(some))
    .slice(0, MOST_ROUTE_CONDITIONS - MOST_OWN_CONDITIONS)
    .map((condition) => routeCondition.parse({ ...condition, not: true }))

const chunks = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
