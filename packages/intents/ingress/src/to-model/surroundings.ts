import type { CertificateSight, Family } from '@spout/connector'
import type { EndpointSlice, Service } from '@spout/kube'

/** What Ingresses are compiled with. */
export interface Surroundings {
  readonly cluster: string
  /** Class of load balancers; null: none is named. */
  readonly loadBalancerClass: string | null
  /** By `namespace/name`. */
  readonly service: (key: string) => Service | undefined
  readonly slices: (serviceKey: string) => readonly EndpointSlice[]
  readonly certificate: (secretKey: string) => CertificateSight
  /** That members can have. */
  readonly families: readonly Family[]
  /** Of the project, below which it may have names. */
  readonly domains: readonly string[]
}
