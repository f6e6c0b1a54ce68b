import type { TlsRouteObject } from '../objects/connection-routes.ts'
import { TLS_ROUTES } from '../objects/resources.ts'
import type { RouteKind } from '../to-model/rules/route-kind.ts'
import { compileNames } from '../to-model/rules/tls-rules.ts'

export const TLS_ROUTE: RouteKind<TlsRouteObject> = {
  kind: 'TLSRoute',
  resource: TLS_ROUTES,
  protocols: ['TLS'],
  takesWholeListener: false,
  backends: { transport: 'TCP', pool: 'tcp-proxy', unsupportedAppProtocols: new Set() },
  hostnamesOf: ({ spec }) => spec.hostnames ?? [],
  backendRefsOf: ({ spec }) => (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs),
  compile: compileNames,
}
