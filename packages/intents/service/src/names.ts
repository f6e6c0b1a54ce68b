/** Kubernetes' own finalizer: it keeps a Service until its load balancer is gone. */
export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
/** Port on which kube-proxy says whether a node can take traffic for `externalTrafficPolicy: Cluster` (KEP-3836). */
export const KUBE_PROXY_HEALTH_PORT = 10256

export const CONDITION_PROGRAMMED = 'spout.dev/Programmed'
/** False while external IPs of the Service are refused; absent otherwise. */
export const CONDITION_EXTERNAL_IPS = 'spout.dev/ExternalIPs'
/** Kubernetes' own name. */
export const CONDITION_PORTS_ERROR = 'LoadBalancerPortsError'

/** Annotations of a Service. Messages use the first name; the others, MetalLB's, mean the same. */
export const ANNOTATIONS = {
  /** Requested addresses, one per family, comma separated. */
  addresses: ['spout.dev/load-balancer-ips', 'metallb.io/loadBalancerIPs'],
  /** Names of address pools, comma separated; at most one per family is used. */
  pools: ['spout.dev/address-pool', 'metallb.io/address-pool'],
  /** Services with one sharing key may share an address. */
  sharingKey: ['spout.dev/allow-shared-ip', 'metallb.io/allow-shared-ip'],
  /** Other namespaces whose Services may share it too, comma separated; they must name this namespace as well. */
  shareWith: ['spout.dev/share-with-namespaces'],
  /** `true` on a Service without a class: it is ours although such Services are not (`services.isDefault: false`). */
  takeOver: ['spout.dev/take-over'],
  /** How members are reached: `direct` at the endpoints, or through `node-ports`. */
  mode: ['spout.dev/mode'],
  /** `tcp`, `udp`, `ping`, `kube-proxy` (only with node ports) or `none`. */
  monitor: ['spout.dev/monitor'],
  monitorDelay: ['spout.dev/monitor-delay'],
  monitorTimeout: ['spout.dev/monitor-timeout'],
  monitorRetries: ['spout.dev/monitor-retries'],
  /** How long established TCP connections of a removed endpoint are kept. */
  drain: ['spout.dev/drain-time'],
  /** Endpoints in this zone, or hinted for it, get the larger weight. */
  preferZone: ['spout.dev/prefer-zone'],
  /** `v1` or `v2`: the version of the PROXY protocol that tells members of TCP ports the client's address. */
  proxyProtocol: ['spout.dev/proxy-protocol'],
  /** A Secret of type `kubernetes.io/tls` in the Service's namespace. Its TCP ports terminate TLS with it. */
  tlsSecret: ['spout.dev/tls-secret'],
  /** The TCP ports that terminate TLS, by name or number, comma separated. Left out: all TCP ports. */
  tlsPorts: ['spout.dev/tls-ports'],
  /** Kubernetes' older form of `loadBalancerSourceRanges`. */
  sourceRanges: ['service.beta.kubernetes.io/load-balancer-source-ranges'],
} as const satisfies Record<string, readonly string[]>

export type AnnotationName = keyof typeof ANNOTATIONS

/** `tcp/80`: a port of a Service, and of its load balancer. */
export type PortKey = `${'tcp' | 'udp' | 'sctp'}/${number}`
