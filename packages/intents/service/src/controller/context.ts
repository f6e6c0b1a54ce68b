import type {
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  LoadBalancerService,
  PodWay,
  Restoration,
} from '@spout/connector'
import type { Cidr } from '@spout/net'
import type { Clock, Logger } from '@spout/runtime'
import type { Mode } from '../to-model/mode.ts'
import type { OwnershipSettings } from '../to-model/ownership.ts'
import type { Cluster } from './cluster.ts'
import type { ServiceIndex } from './service-index.ts'
import type { StatusWriter } from './status-writer.ts'

export interface ServiceControllerSettings extends OwnershipSettings {
  /** Tells this cluster's load balancers from those of others in the project; never changes. */
  readonly cluster: string
  readonly mode: Mode
  /** Names of address pools for Services that name none, in order; empty takes any. */
  readonly defaultPools: readonly string[]
  /** Where `spec.externalIPs` may come from; empty: they are not looked at. */
  readonly externalRanges: readonly Cidr[]
  /** The project's network whose pod routes are kept; null leaves routes alone. */
  readonly routesOfNetwork: string | null
  /** Left out: each pod by way of its node. */
  readonly podWay?: PodWay
}

export interface ServiceControllerOptions {
  readonly cluster: Cluster
  readonly service: LoadBalancerService
  readonly settings: ServiceControllerSettings
  readonly clock: Clock
  readonly log: Logger
  /** Keys worked on at the same time. */
  readonly workers?: number
}

/** What the parts of the controller share. */
export interface ControllerContext extends ServiceControllerOptions {
  readonly known: KnownLoadBalancers
  readonly pools: KnownPools
  readonly networks: KnownNetworks
  readonly restoration: Restoration
  readonly index: ServiceIndex
  readonly statuses: StatusWriter
  /** Who changes a load balancer just now, by its id. */
  readonly busy: Map<string, string>
  /** Ids of load balancers that were deleted and that nodes may still hold, by the key of the Service that waits for it. */
  readonly withdrawing: Map<string, Set<string>>
  /** Services that a load balancer may be made for just now, by key. */
  readonly working: Set<string>
  /** UIDs of Services that were shown and went, while a load balancer names them. */
  readonly departed: Set<string>
  /** How long what is made may wait for others: not at all unless many Services wait for their turn. */
  readonly patienceMs: () => number
  readonly addUnit: (unit: string) => void
  readonly addLeaving: (key: string) => void
}

/** What was refused is tried again this often, besides whenever something changes that may help. */
export const REFUSED_RETRY_MS = 30_000
