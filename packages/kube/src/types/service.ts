import type { Condition, KubeObject } from './object-meta.ts'

/** core/v1 Protocol. */
export type Protocol = 'TCP' | 'UDP' | 'SCTP'
export type IpFamily = 'IPv4' | 'IPv6'

/** core/v1 Service. */
export interface Service extends KubeObject {
  readonly spec: ServiceSpec
  readonly status?: ServiceStatus
}

export interface ServiceSpec {
  readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'
  readonly selector?: Readonly<Record<string, string>>
  readonly ports?: readonly ServicePort[]
  /** An address, `None` (headless) or empty. */
  readonly clusterIP?: string
  readonly clusterIPs?: readonly string[]
  readonly externalIPs?: readonly string[]
  readonly externalName?: string
  readonly externalTrafficPolicy?: 'Cluster' | 'Local'
  readonly internalTrafficPolicy?: 'Cluster' | 'Local'
  readonly trafficDistribution?: string
  /** Only with type LoadBalancer and externalTrafficPolicy Local. */
  readonly healthCheckNodePort?: number
  readonly ipFamilies?: readonly IpFamily[]
  readonly ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack'
  readonly allocateLoadBalancerNodePorts?: boolean
  readonly loadBalancerClass?: string
  readonly loadBalancerIP?: string
  readonly loadBalancerSourceRanges?: readonly string[]
  readonly publishNotReadyAddresses?: boolean
  readonly sessionAffinity?: 'None' | 'ClientIP'
  readonly sessionAffinityConfig?: SessionAffinityConfig
}

export interface SessionAffinityConfig {
  readonly clientIP?: { readonly timeoutSeconds?: number }
}

export interface ServicePort {
  /** Required with several ports; unique in the Service. */
  readonly name?: string
  readonly protocol?: Protocol
  readonly appProtocol?: string
  readonly port: number
  /** A number or the name of a container port. */
  readonly targetPort?: number | string
  readonly nodePort?: number
}

export interface ServiceStatus {
  readonly loadBalancer?: LoadBalancerStatus
  readonly conditions?: readonly Condition[]
}

export interface LoadBalancerStatus {
  readonly ingress?: readonly LoadBalancerIngress[]
}

export interface LoadBalancerIngress {
  readonly ip?: string
  readonly hostname?: string
  readonly ipMode?: 'VIP' | 'Proxy'
  readonly ports?: readonly PortStatus[]
}

export interface PortStatus {
  readonly port: number
  readonly protocol: Protocol
  /** CamelCase; with a domain prefix when it is not one of Kubernetes' own. */
  readonly error?: string
}
