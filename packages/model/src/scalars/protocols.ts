/**
 * `tcp`, `udp` and `sctp` listeners forward connections. `http`, `https`, `tcp-proxy`, `tls` and `tls-passthrough`
 * listeners terminate them in the L7 proxy. `https` is HTTP whose TLS the proxy ends. `tls` ends TLS of any other
 * connection, and `tls-passthrough` passes it on as it is, both by the name that the client asks for. A `metrics`
 * listener has no pool: it answers `GET /metrics` with the figures of its load balancer.
 */
export const LISTENER_PROTOCOLS = [
  'tcp',
  'udp',
  'sctp',
  'http',
  'https',
  'tcp-proxy',
  'tls',
  'tls-passthrough',
  'metrics',
] as const
export type ListenerProtocol = (typeof LISTENER_PROTOCOLS)[number]

const FORWARDED: ReadonlySet<ListenerProtocol> = new Set(['tcp', 'udp', 'sctp'])

/** Whether the proxy ends TLS, with certificates of the project. */
export const endsTls = (protocol: ListenerProtocol): boolean => protocol === 'https' || protocol === 'tls'

/** Whether the proxy reads the requests of clients and passes them on. */
export const readsRequests = (protocol: ListenerProtocol): boolean => protocol === 'http' || protocol === 'https'

/** Whether connections go by the name that the client asks for (SNI, RFC 6066 section 3). */
export const goesByServerName = (protocol: ListenerProtocol): boolean =>
  protocol === 'tls' || protocol === 'tls-passthrough'

type OnPort = { readonly protocol: ListenerProtocol; readonly port: number }

/**
 * Whether a listener gets its connections from another one of its port: that one passes TLS on for the names of its
 * routes, and this one ends TLS for all others.
 * @param all listeners of its load balancer
 */
export const isBehind = ({ protocol, port }: OnPort, all: readonly OnPort[]): boolean =>
  endsTls(protocol) && all.some((other) => other.protocol === 'tls-passthrough' && other.port === port)

/** The other listener's part: what none of its routes takes goes to the one that is found. */
export const listenerBehind = <L extends OnPort>({ protocol, port }: OnPort, all: readonly L[]): L | undefined =>
  protocol === 'tls-passthrough' ? all.find((other) => other.port === port && endsTls(other.protocol)) : undefined

/** Whether the L7 proxy terminates the connection. */
export const isProxied = (protocol: ListenerProtocol): boolean => !FORWARDED.has(protocol)

/**
 * Whether the kernel must track a listener's connections. Balanced connections are translated. Connection limits and
 * allow lists work on tracked connections. A plain proxied listener needs no tracking.
 */
export const isTracked = ({
  protocol,
  connectionLimit,
  allowedCidrs,
}: {
  readonly protocol: ListenerProtocol
  readonly connectionLimit: number | null
  readonly allowedCidrs: readonly string[] | null
}): boolean => !isProxied(protocol) || connectionLimit !== null || allowedCidrs !== null

/** Protocol numbers of the IP header (IANA, Assigned Internet Protocol Numbers). */
export const PROTOCOL_NUMBERS = { icmp: 1, tcp: 6, udp: 17, sctp: 132 } as const

export type Transport = Exclude<keyof typeof PROTOCOL_NUMBERS, 'icmp'>

/** The transport protocol of a listener. Listeners of one load balancer may share a port over different ones. */
export const transportOf = (protocol: ListenerProtocol): Transport =>
  protocol === 'udp' || protocol === 'sctp' ? protocol : 'tcp'

/** The feature that a node must have for an access log. @param syslog its receiver */
export const accessLogFeature = (
  syslog: { readonly tls?: object | undefined } | null | undefined,
): 'l7.access-log' | 'l7.access-log.syslog' | 'l7.access-log.syslog-tls' =>
  syslog == null ? 'l7.access-log' : syslog.tls === undefined ? 'l7.access-log.syslog' : 'l7.access-log.syslog-tls'
