import type { CertificateSight, Family } from '@spout/connector'
import type { EndpointSlice, Service } from '@spout/kube'
import type { ConfigMapSight } from './custom-headers.ts'

/** What compiling Ingresses depends on beside the Ingresses themselves. */
export interface Surroundings {
  readonly cluster: string
  /** The class of load balancers that the IngressClass names; null for none. */
  readonly loadBalancerClass: string | null
  /** By `namespace/name`. */
  readonly service: (key: string) => Service | undefined
  readonly slices: (serviceKey: string) => readonly EndpointSlice[]
  readonly certificate: (secretKey: string) => CertificateSight
  /** By `namespace/name`. */
  readonly configMap: (key: string) => ConfigMapSight
  /** The address families that members can have. */
  readonly families: readonly Family[]
  /** The domains of the project: its host names must be below one of them. */
  readonly domains: readonly string[]
}
