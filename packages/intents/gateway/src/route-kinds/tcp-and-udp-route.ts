import type { ConnectionRouteObject } from '../objects/connection-routes.ts'
import { TCP_ROUTES, UDP_ROUTES } from '../objects/resources.ts'
import { compileConnections } from '../to-model/rules/connection-rules.ts'
import type { RouteKind } from '../to-model/rules/route-kind.ts'

const kindOver = (transport: 'TCP' | 'UDP'): RouteKind<ConnectionRouteObject> => ({
  kind: `${transport}Route`,
  resource: transport === 'TCP' ? TCP_ROUTES : UDP_ROUTES,
  protocols: [transport],
  takesWholeListener: true,
  backends: { transport, pool: transport === 'TCP' ? 'tcp' : 'udp', unsupportedAppProtocols: new Set() },
  hostnamesOf: () => [],
  backendRefsOf: ({ spec }) => (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs),
  compile: (route, _hosts, _listener, resolve) => compileConnections(route, resolve),
})

export const TCP_ROUTE = kindOver('TCP')
export const UDP_ROUTE = kindOver('UDP')
