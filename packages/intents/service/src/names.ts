import type { Service } from '@spout/kube'

/** Kubernetes' own name: the API server keeps a Service with it until its load balancer is gone. */
export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
/**
 * Set together with the finalizer. Every implementation of load balancers uses the same finalizer, so this says whose it
 * is where nothing else does any more (the type was changed away, and with it the class).
 */
export const MANAGED_BY = 'spout.dev/managed-by'
/** Where namespaces are of several projects: the id of the one that the Service was balanced by first. Written by us. */
export const PROJECT = 'spout.dev/project'
/** Kubernetes' own label: which controller writes an EndpointSlice. */
export const SLICE_MANAGER_LABEL = 'endpointslice.kubernetes.io/managed-by'
/** On what is kept of an EndpointSlice whose endpoints do not count: whose it is. Never written to the cluster. */
export const SLICE_LEFT_OUT = 'spout.dev/left-out'
export const EXCLUDE_NODE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers'
export const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler'
/** Where kube-proxy says whether a node can take traffic for `externalTrafficPolicy: Cluster` (KEP-3836). */
export const KUBE_PROXY_HEALTH_PORT = 10256

export const CONDITION_PROGRAMMED = 'spout.dev/Programmed'
/** Whether somebody answers behind the Service; there once it is programmed. */
export const CONDITION_SERVING = 'spout.dev/Serving'
/** False while external IPs of the Service cannot be had, and not there else. */
export const CONDITION_EXTERNAL_IPS = 'spout.dev/ExternalIPs'
/** A name of Kubernetes' own. */
export const CONDITION_PORTS_ERROR = 'LoadBalancerPortsError'

/** The reason of a Service that stays with the project that its namespace was of. */
export const NAMESPACE_MOVED = 'NamespaceMoved'

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

/** `namespace/name`. */
export const keyOf = ({ metadata }: Pick<Service, 'metadata'>): string => `${metadata.namespace ?? ''}/${metadata.name}`
export const uidOf = ({ metadata }: Pick<Service, 'metadata'>): string => metadata.uid ?? ''
/** What its status says, whoever wrote it. */
export const shownAddresses = ({ status }: Pick<Service, 'status'>): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? [])
/** `tcp/80`: a port of a Service, and of its load balancer. */
export type PortKey = `${'tcp' | 'udp' | 'sctp'}/${number}`
