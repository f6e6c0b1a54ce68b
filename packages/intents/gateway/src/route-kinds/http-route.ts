import type { HttpRouteObject, HttpRouteRule } from '../objects/http-route.ts'
import type { BackendRef } from '../objects/references.ts'
import { HTTP_ROUTES } from '../objects/resources.ts'
import { compileRules } from '../to-model/rules/http-rules.ts'
import type { RouteKind } from '../to-model/rules/route-kind.ts'

export const HTTP_ROUTE: RouteKind<HttpRouteObject> = {
  kind: 'HTTPRoute',
  resource: HTTP_ROUTES,
  protocols: ['HTTP', 'HTTPS'],
  takesWholeListener: false,
  rival: 'GRPCRoute',
  backends: {
    transport: 'TCP',
    pool: 'http',
    unsupportedAppProtocols: new Set(['kubernetes.io/wss', 'https']),
    isHttp2: (appProtocol) => appProtocol === 'kubernetes.io/h2c' || appProtocol === 'grpc',
  },
  hostnamesOf: ({ spec }) => spec.hostnames ?? [],
  backendRefsOf: ({ spec }) => backendRefsOfRules(spec.rules),
  compile: ({ metadata, spec }, hosts, listener, resolve) =>
    compileRules({ metadata, rules: spec.rules ?? [{}] }, hosts, listener, resolve),
}

/** All backend references of rules, including those in filters. */
export const backendRefsOfRules = (
  rules: readonly Pick<HttpRouteRule, 'backendRefs' | 'filters'>[] = [],
): readonly BackendRef[] =>
  rules.flatMap(({ backendRefs = [], filters = [] }) => [
    ...backendRefs,
    ...[...filters, ...backendRefs.flatMap((ref) => ref.filters ?? [])].flatMap(
      ({ requestMirror }) => requestMirror?.backendRef ?? [],
    ),
  ])
