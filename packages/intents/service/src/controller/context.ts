import type {
  Dependents,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  LoadBalancerService,
  PodWay,
  Restoration,
  TlsCertificates,
} from '@spout/connector'
import type { Cidr } from '@spout/net'
import type { Clock, Logger } from '@spout/runtime'
import type { Mode } from '../to-model/mode.ts'
import type { OwnershipSettings } from '../to-model/ownership.ts'
import type { Cluster } from './cluster.ts'
import type { ServiceIndex } from './service-index.ts'
import type { StatusWriter } from './status-writer.ts'

export interface ServiceControllerSettings extends OwnershipSettings {
  /** Id of this cluster: tells its load balancers from those of other clusters in the project. Never changes. */
  readonly cluster: string
  readonly mode: Mode
  /** Names of address pools for Services that name none, in order; empty allows any. */
  readonly defaultPools: readonly string[]
  /** Ranges for `spec.externalIPs`; empty: the field is ignored. */
  readonly externalRanges: readonly Cidr[]
  /** Network of the project in which routes to pods are maintained; null leaves routes alone. */
  readonly routesOfNetwork: string | null
  /** Left out: each pod is reached through its node. */
  readonly podWay?: PodWay
}

export interface ServiceControllerOptions {
  readonly cluster: Cluster
  readonly service: LoadBalancerService
  /**
   * Of the project. Started and stopped by who made it; left out: Services that name Secrets are refused. No other Service
   * waits for them.
   */
  readonly certificates?: Pick<TlsCertificates, 'of' | 'name' | 'complete' | 'onChange'>
  readonly settings: ServiceControllerSettings
  readonly clock: Clock
  readonly log: Logger
  /** Keys that are processed concurrently. */
  readonly workers?: number
}

/** State shared by the parts of the controller. */
export interface ControllerContext extends ServiceControllerOptions {
  readonly known: KnownLoadBalancers
  readonly pools: KnownPools
  readonly networks: KnownNetworks
  readonly restoration: Restoration
  readonly index: ServiceIndex
  readonly statuses: StatusWriter
  /** The unit that is changing a load balancer now, by load balancer id. */
  readonly busy: Map<string, string>
  /** Ids of deleted load balancers that nodes may still hold, by the key of the Service that waits for it. */
  readonly withdrawing: Map<string, Set<string>>
  /** Keys of Services for which a load balancer may be in creation. */
  readonly working: Set<string>
  /** The Services that name a Secret, by its key. */
  readonly secrets: Dependents
  /** UIDs of Services that were shown and deleted, while a load balancer names them. */
  readonly departed: Set<string>
  /** How long a creation may wait to share a call; 0 unless many Services are queued. */
  readonly patienceMs: () => number
  readonly addUnit: (unit: string) => void
  readonly addLeaving: (key: string) => void
}

/** How often refused Services are tried again, besides when something changes that may help. */
export const REFUSED_RETRY_MS = 30_000
