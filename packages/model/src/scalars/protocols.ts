/**
 * `tcp`, `udp` and `sctp` listeners forward connections. `http`, `https`, `tcp-proxy`, `tls` and `tls-passthrough`
 * listeners terminate them in the L7 proxy. `https` is HTTP over TLS that the proxy terminates. `tls` terminates the
 * TLS of any other protocol, and `tls-passthrough` forwards TLS unchanged; both choose the pool by the client's server
 * name. A `metrics` listener has no pool: it answers `GET /metrics` with the metrics of its load balancer.
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

/** Whether the proxy terminates TLS, with certificates of the project. */
export const endsTls = (protocol: ListenerProtocol): boolean => protocol === 'https' || protocol === 'tls'

/** Whether the proxy parses HTTP requests and forwards them. */
export const readsRequests = (protocol: ListenerProtocol): boolean => protocol === 'http' || protocol === 'https'

/** Whether the client's server name (SNI, RFC 6066 section 3) selects the pool of a connection. */
export const goesByServerName = (protocol: ListenerProtocol): boolean =>
  protocol === 'tls' || protocol === 'tls-passthrough'

type OnPort = { readonly protocol: ListenerProtocol; readonly port: number }

/**
 * Whether a listener gets its connections from a `tls-passthrough` listener on the same port. That one forwards TLS for
 * the server names of its routes, and this one terminates TLS for all others.
 * @param all listeners of its load balancer
 */
export const isBehind = ({ protocol, port }: OnPort, all: readonly OnPort[]): boolean =>
  endsTls(protocol) && all.some((other) => other.protocol === 'tls-passthrough' && other.port === port)

/**
 * The listener that gets the connections that no route of a `tls-passthrough` listener takes (`isBehind`). Undefined if
 * there is none.
 */
export const listenerBehind = <L extends OnPort>({ protocol, port }: OnPort, all: readonly L[]): L | undefined =>
  protocol === 'tls-passthrough' ? all.find((other) => other.port === port && endsTls(other.protocol)) : undefined

/** Whether the L7 proxy terminates the connection. */
export const isProxied = (protocol: ListenerProtocol): boolean => !FORWARDED.has(protocol)

/**
 * Whether the kernel must track a listener's connections. It must if it forwards them, since it translates addresses,
 * and for connection limits and allow lists, which work on tracked connections.
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
