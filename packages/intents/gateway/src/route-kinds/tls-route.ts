import type { TlsRouteObject } from '../objects/connection-routes.ts'
import { TLS_ROUTES } from '../objects/resources.ts'
import { compileNames } from '../to-model/tls-rules.ts'
import type { RouteKind } from './route-kind.ts'

export const TLS_ROUTE: RouteKind<TlsRouteObject> = {
  kind: 'TLSRoute',
  resource: TLS_ROUTES,
  protocols: ['TLS'],
  isAlone: false,
  backends: { transport: 'TCP', pool: 'tcp-proxy', unspoken: new Set() },
  hostnamesOf: ({ spec }) => spec.hostnames ?? [],
  backendRefsOf: ({ spec }) => (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs),
  compile: compileNames,
}
