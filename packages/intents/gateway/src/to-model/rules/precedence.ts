import type { HttpRouteMatch } from '../../objects/http-route.ts'
import { hostRank } from '../fields/hostnames.ts'
import { pathOf } from './matches.ts'

/** Where a route stands among those of one listener: compared from the first number on. Kinds of one listener have like ones. */
export type Precedence = readonly (number | string)[]

const PATH_RANKS = { Exact: 0, RegularExpression: 1, PathPrefix: 2 } as const

/**
 * The order of the API (HTTPRouteSpec.hostnames, HTTPRouteRule.matches): the more specific host, exact path, longest prefix, method, most headers, most query parameters,
 * oldest route, `namespace/name`, order in the route. Where expressions stand is left to implementations.
 */
export const precedenceOf = (
  host: string,
  match: MatchRank,
  route: { readonly createdAt: string; readonly key: string },
  rule: number,
  index: number,
): Precedence => [...hostRank(host), ...match, route.createdAt, route.key, rule, index]

/** Where a match stands among those of one host. All kinds of routes have as many numbers, so that they can be sorted together. */
export type MatchRank = readonly [number, number, number, number, number]

export function rankOfMatch({ path, method, headers = [], queryParams = [] }: HttpRouteMatch): MatchRank {
  const { type, value } = pathOf(path)
  return [PATH_RANKS[type], -value.length, method === undefined ? 1 : 0, -headers.length, -queryParams.length]
}

export function byPrecedence(a: Precedence, b: Precedence): number {
  for (const [at, one] of a.entries()) {
    const other = b[at]!
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}
