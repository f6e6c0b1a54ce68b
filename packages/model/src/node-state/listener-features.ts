import { accessLogFeature, isBehind, isProxied, type ListenerProtocol, readsRequests } from '../scalars/protocols.ts'
import { featuresOfRoutes } from './route-keys.ts'

/** The fields of a listener by which it needs something of the proxy's driver, as nodes get them (`Service`). */
export interface FeaturedListener {
  readonly protocol: ListenerProtocol
  readonly port: number
  readonly routes?: Parameters<typeof featuresOfRoutes>[0] | undefined
  readonly tls?:
    | {
        readonly clients?: { readonly acceptInvalid?: true | undefined; readonly revocations?: unknown } | undefined
        readonly ciphers?: unknown
        readonly separateHosts?: unknown
      }
    | undefined
  readonly latencies?: true | undefined
  readonly routeFigures?: true | undefined
  readonly accessLog?: { readonly syslog?: { readonly tls?: object | undefined } | null | undefined } | undefined
}

/** The load balancer of a listener: its other listeners, and settings of its class. */
export interface ListenerSurroundings {
  readonly listeners: readonly Pick<FeaturedListener, 'protocol' | 'port'>[]
  readonly dedicatedProxy?: object | undefined
  readonly requestSizes?: object | undefined
}

interface ListenerFeature {
  readonly name: string
  readonly isNeeded: (listener: FeaturedListener, around: ListenerSurroundings) => boolean
}

/**
 * What proxied listeners can need of drivers, beside their protocol, routes and access log. The planner asks it of
 * nodes, and a node chooses its drivers by it. A new option of a listener that older nodes lack is a row.
 */
const LISTENER_FEATURES: readonly ListenerFeature[] = [
  { name: 'l7.client-certificates', isNeeded: ({ tls }) => tls?.clients !== undefined },
  { name: 'l7.client-certificates.crl', isNeeded: ({ tls }) => tls?.clients?.revocations !== undefined },
  { name: 'l7.client-certificates.invalid', isNeeded: ({ tls }) => tls?.clients?.acceptInvalid === true },
  { name: 'l7.dedicated-proxy', isNeeded: (_, { dedicatedProxy }) => dedicatedProxy !== undefined },
  { name: 'l7.latencies', isNeeded: ({ latencies }) => latencies === true },
  { name: 'l7.latencies.routes', isNeeded: ({ routeFigures }) => routeFigures === true },
  {
    name: 'l7.request-sizes',
    isNeeded: ({ protocol }, { requestSizes }) => requestSizes !== undefined && readsRequests(protocol),
  },
  { name: 'l7.separate-hosts', isNeeded: ({ tls }) => tls?.separateHosts !== undefined },
  { name: 'l7.tls-ciphers', isNeeded: ({ tls }) => tls?.ciphers !== undefined },
  { name: 'l7.tls-shared-ports', isNeeded: (listener, { listeners }) => isBehind(listener, listeners) },
]

/** Features that a listener needs of the driver of proxied listeners, without those of its pools. None if not proxied. */
export function featuresOfListener(listener: FeaturedListener, around: ListenerSurroundings): readonly string[] {
  if (!isProxied(listener.protocol)) return []
  const { protocol, routes = [], accessLog } = listener
  return [
    `l7.${protocol}`,
    ...LISTENER_FEATURES.filter(({ isNeeded }) => isNeeded(listener, around)).map(({ name }) => name),
    ...featuresOfRoutes(routes),
    ...(accessLog === undefined ? [] : [accessLogFeature(accessLog.syslog)]),
  ]
}
