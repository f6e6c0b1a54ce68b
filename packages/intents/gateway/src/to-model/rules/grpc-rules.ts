import type { GrpcMethodMatch, GrpcRouteMatch, GrpcRouteObject } from '../../objects/grpc-route.ts'
import type { HttpRouteMatch } from '../../objects/http-route.ts'
import { compileRules } from './http-rules.ts'
import type { CompiledRules, ResolveBackend, RouteListener } from './route-kind.ts'

/**
 * A gRPC client maps this HTTP status to UNAVAILABLE, and 404 to UNIMPLEMENTED (doc/http-grpc-status-mapping.md of
 * grpc).
 */
const UNAVAILABLE = 503

/**
 * Compiles the rules of a GRPCRoute for one listener. A gRPC request is an HTTP request for the path `/service/method`.
 * @param hosts the hosts that the route serves there
 */
export function compileGrpcRules(
  route: GrpcRouteObject,
  hosts: readonly string[],
  listener: RouteListener,
  resolve: ResolveBackend,
): CompiledRules {
  const rules = route.spec.rules ?? [{}]
  const rankOf = (rule: number, match: number) => rankOfMatch(rules[rule]?.matches?.[match] ?? {})
  const own = {
    unresolvedCode: UNAVAILABLE,
    rankOf: (_: HttpRouteMatch, rule: number, match: number) => rankOf(rule, match),
  } as const
  const asHttp = rules.map(({ matches = [], ...rule }) => ({ ...rule, matches: matches.map(httpMatchOf) }))
  return compileRules({ metadata: route.metadata, rules: asHttp }, hosts, listener, resolve, own)
}

/** The precedence of GRPCRouteRule.matches: the longest service, then the longest method, then the most headers. */
const rankOfMatch = ({ method = {}, headers = [] }: GrpcRouteMatch) =>
  [0, -(method.service ?? '').length, -(method.method ?? '').length, -headers.length, 0] as const

const httpMatchOf = ({ method, headers = [] }: GrpcRouteMatch): HttpRouteMatch => ({
  ...(method === undefined ? {} : { path: pathOf(method) }),
  headers,
})

/** Matches the element of the path that a match by service or by method alone leaves open. */
const ANY_NAME = '[^/]+'

function pathOf({ type = 'Exact', service = '', method = '' }: GrpcMethodMatch): NonNullable<HttpRouteMatch['path']> {
  if (type === 'RegularExpression')
    return { type: 'RegularExpression', value: `/(?:${service || ANY_NAME})/(?:${method || ANY_NAME})` }
  if (service === '') return { type: 'RegularExpression', value: `/${ANY_NAME}/${method}` }
  return method === ''
    ? { type: 'PathPrefix', value: `/${service}` }
    : { type: 'Exact', value: `/${service}/${method}` }
}
