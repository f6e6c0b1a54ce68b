import type { GrpcRouteObject } from '../objects/grpc-route.ts'
import { GRPC_ROUTES } from '../objects/resources.ts'
import { compileGrpcRules } from '../to-model/rules/grpc-rules.ts'
import type { RouteKind } from '../to-model/rules/route-kind.ts'
import { backendRefsOfRules } from './http-route.ts'

export const GRPC_ROUTE: RouteKind<GrpcRouteObject> = {
  kind: 'GRPCRoute',
  resource: GRPC_ROUTES,
  protocols: ['HTTP', 'HTTPS'],
  takesWholeListener: false,
  rival: 'HTTPRoute',
  backends: {
    transport: 'TCP',
    pool: 'http',
    unsupportedAppProtocols: new Set(['kubernetes.io/ws', 'kubernetes.io/wss', 'http', 'https']),
    isHttp2: () => true,
  },
  hostnamesOf: ({ spec }) => spec.hostnames ?? [],
  backendRefsOf: ({ spec }) => backendRefsOfRules(spec.rules),
  compile: compileGrpcRules,
}
