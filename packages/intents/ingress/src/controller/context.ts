import type {
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  LoadBalancerService,
  TlsCertificates,
} from '@spout/connector'
import type { Clock, Logger } from '@spout/runtime'
import type { Cluster } from './cluster.ts'
import type { IngressIndex } from './ingress-index.ts'
import type { IngressStatuses } from './ingress-statuses.ts'

export interface IngressControllerSettings {
  /** Id of this cluster: tells its load balancers from those of other clusters in the project. Never changes. */
  readonly cluster: string
  /** Only these namespaces; null for all. */
  readonly namespaces: readonly string[] | null
  /** Names of address pools, in order; empty allows any. */
  readonly defaultPools: readonly string[]
}

export interface IngressControllerOptions {
  readonly cluster: Cluster
  readonly service: LoadBalancerService
  /** Of the project. Started and stopped by who made it. */
  readonly certificates: TlsCertificates
  readonly settings: IngressControllerSettings
  readonly clock: Clock
  readonly log: Logger
}

/** State shared by the parts of the controller. */
export interface ControllerContext extends IngressControllerOptions {
  readonly known: KnownLoadBalancers
  readonly pools: KnownPools
  readonly networks: KnownNetworks
  readonly domains: KnownDomains
  readonly index: IngressIndex
  readonly statuses: IngressStatuses
  /** The unit that is changing a load balancer now, by load balancer id. */
  readonly busy: Map<string, string>
  readonly withdrawing: Map<string, Set<string>>
  /** UIDs of Ingresses that were shown and deleted, while a load balancer names them. */
  readonly departed: Set<string>
  readonly addUnit: (unit: string) => void
}

/** How often what is refused is tried again, besides when something changes that may help. */
export const REFUSED_RETRY_MS = 30_000
