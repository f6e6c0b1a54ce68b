import type { HttpRouteMatch } from '../../objects/http-route.ts'
import { hostRank } from '../fields/hostnames.ts'
import { pathOf } from './matches.ts'

/**
 * The sort key of a route among those of one listener, compared element by element. All kinds that can attach to one
 * listener have keys of the same shape.
 */
export type Precedence = readonly (number | string)[]

const PATH_RANKS = { Exact: 0, RegularExpression: 1, PathPrefix: 2 } as const

/**
 * The API's order (HTTPRouteSpec.hostnames, HTTPRouteRule.matches): most specific host, exact path, longest prefix,
 * method, most headers, most query parameters, oldest route, `namespace/name`, order in the route. The API leaves the
 * rank of expressions to implementations: ours come between exact paths and prefixes.
 */
export const precedenceOf = (
  host: string,
  match: MatchRank,
  route: { readonly createdAt: string; readonly key: string },
  rule: number,
  index: number,
): Precedence => [...hostRank(host), ...match, route.createdAt, route.key, rule, index]

/**
 * The rank of a match among those of one host. All kinds have the same number of elements, so that they sort together.
 */
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
