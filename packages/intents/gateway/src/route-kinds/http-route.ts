import type { HttpRouteObject } from '../objects/http-route.ts'
import { HTTP_ROUTES } from '../objects/resources.ts'
import { compileRules } from '../to-model/http-rules.ts'
import type { RouteKind } from './route-kind.ts'

export const HTTP_ROUTE: RouteKind<HttpRouteObject> = {
  kind: 'HTTPRoute',
  resource: HTTP_ROUTES,
  protocols: ['HTTP', 'HTTPS'],
  isAlone: false,
  backends: {
    transport: 'TCP',
    pool: 'http',
    unspoken: new Set(['kubernetes.io/h2c', 'kubernetes.io/wss', 'https', 'grpc']),
  },
  hostnamesOf: ({ spec }) => spec.hostnames ?? [],
  backendRefsOf: ({ spec }) =>
    (spec.rules ?? []).flatMap(({ backendRefs = [], filters = [] }) => [
      ...backendRefs,
      ...[...filters, ...backendRefs.flatMap((ref) => ref.filters ?? [])].flatMap(
        ({ requestMirror }) => requestMirror?.backendRef ?? [],
      ),
    ]),
  compile: compileRules,
}
