import type { CertificateSight, Family } from '@spout/connector'
import type { EndpointSlice, Service } from '@spout/kube'
import type { ConfigMapSight } from './custom-headers.ts'

/** The facts by which Ingresses are compiled. */
export interface Surroundings {
  readonly cluster: string
  /** Class of load balancers; null: none is named. */
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
