/** Kubernetes' own name: the API server keeps a Service with it until its load balancer is gone. */
export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
/** Where kube-proxy says whether a node can take traffic for `externalTrafficPolicy: Cluster` (KEP-3836). */
export const KUBE_PROXY_HEALTH_PORT = 10256

export const CONDITION_PROGRAMMED = 'spout.dev/Programmed'
/** Whether somebody answers behind the Service; there once it is programmed. */
export const CONDITION_SERVING = 'spout.dev/Serving'
/** False while external IPs of the Service cannot be had, and not there else. */
export const CONDITION_EXTERNAL_IPS = 'spout.dev/ExternalIPs'
/** A name of Kubernetes' own. */
export const CONDITION_PORTS_ERROR = 'LoadBalancerPortsError'

/** What a Service may say beyond its spec. The first name is ours, the others are read alike. */
export const ANNOTATIONS = {
  /** Addresses wanted, one of a family, comma separated. */
  addresses: ['spout.dev/load-balancer-ips', 'metallb.io/loadBalancerIPs'],
  /** Names of address pools, comma separated; at most one of a family is used. */
  pools: ['spout.dev/address-pool', 'metallb.io/address-pool'],
  /** Services with one sharing key may share an address. */
  sharingKey: ['spout.dev/allow-shared-ip', 'metallb.io/allow-shared-ip'],
  /** Other namespaces whose Services may share it too, comma separated; they must name this one as well. */
  shareWith: ['spout.dev/share-with-namespaces'],
  /** `direct` to the endpoints, or `node-ports`. */
  mode: ['spout.dev/mode'],
  /** `tcp`, `udp`, `ping`, `kube-proxy` (node ports alone) or `none`. */
  monitor: ['spout.dev/monitor'],
  monitorDelay: ['spout.dev/monitor-delay'],
  monitorTimeout: ['spout.dev/monitor-timeout'],
  monitorRetries: ['spout.dev/monitor-retries'],
  /** How long established TCP connections of an endpoint that went away are kept. */
  drain: ['spout.dev/drain-time'],
  /** Endpoints of this zone, or hinted for it, get the larger share. */
  preferZone: ['spout.dev/prefer-zone'],
  /** Kubernetes' older way of `loadBalancerSourceRanges`. */
  sourceRanges: ['service.beta.kubernetes.io/load-balancer-source-ranges'],
} as const satisfies Record<string, readonly string[]>

export type AnnotationName = keyof typeof ANNOTATIONS

/** `tcp/80`: a port of a Service, and of its load balancer. */
export type PortKey = `${'tcp' | 'udp' | 'sctp'}/${number}`
