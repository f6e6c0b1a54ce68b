import type { RouteContent } from '@spout/connector'
import { MOST_CONDITION_VALUES, MOST_ROUTE_CONDITIONS, type RouteCondition, routeCondition } from '@spout/model'
import { passesTls } from '../fields/ends-tls.ts'
import { ANY_HOST, bySpecificity, intersection, isWildcard } from '../fields/hostnames.ts'
import { closed } from '../rules/last-routes.ts'
import { hostConditions } from '../rules/matches.ts'
import type { JudgedListener } from './listeners.ts'

/**
 * The routes of listeners that pass TLS on: those of the listener with the most specific host first. A connection for a
 * name that no route has must be closed, says the API; without the last route the proxy would answer it with a TLS
 * alert. Where other listeners of the port end TLS, the routes leave two kinds of connections to them: those for names
 * of no listener here, and those for hosts that they have and that are more specific.
 * @param all all listeners of the port
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

/** A route of a listener that passes TLS on has one condition of its own: on its hosts, which are all of one kind. */
const MOST_OWN_CONDITIONS = 1

/** Conditions that exclude these hosts. A route can exclude about 6,000; further hosts are not excluded. */
const noneOf = (hosts: readonly string[]): readonly RouteCondition[] =>
  [hosts.filter(isWildcard), hosts.filter((host) => !isWildcard(host))]
    .flatMap((same) => chunks(same, MOST_CONDITION_VALUES))
    .flatMap((some) => hostConditions(some))
    .slice(0, MOST_ROUTE_CONDITIONS - MOST_OWN_CONDITIONS)
    .map((condition) => routeCondition.parse({ ...condition, not: true }))

const chunks = <T>(all: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
