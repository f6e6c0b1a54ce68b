import type {
  Busy,
  Dependents,
  IntentOptions,
  IntentSettings,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  PodWay,
  Restoration,
  TlsCertificates,
} from '@spout/connector'
import type { Cidr } from '@spout/net'
import type { Mode } from '../to-model/mode.ts'
import type { OwnershipSettings } from '../to-model/ownership.ts'
import type { Cluster } from './cluster.ts'
import type { ServiceIndex } from './service-index.ts'
import type { StatusWriter } from './status-writer.ts'

export interface ServiceControllerSettings extends IntentSettings, OwnershipSettings {
  readonly mode: Mode
  /** Ranges for `spec.externalIPs`; empty: the field is ignored. */
  readonly externalRanges: readonly Cidr[]
  /** Network of the project in which routes to pods are maintained; null leaves routes alone. */
  readonly routesOfNetwork: string | null
  /** Left out: each pod is reached through its node. */
  readonly podWay?: PodWay
}

export interface ServiceControllerOptions
  extends Omit<IntentOptions<Cluster, ServiceControllerSettings>, 'certificates'> {
  /** Left out: Services that name Secrets are refused. Other Services do not need it. */
  readonly certificates?: Pick<TlsCertificates, 'of' | 'name' | 'complete' | 'onChange'>
  /** Keys that are processed concurrently. */
  readonly workers?: number
}

/** State shared by the parts of the controller. */
export interface ControllerContext extends ServiceControllerOptions {
  readonly kind: 'service'
  readonly known: KnownLoadBalancers
  readonly pools: KnownPools
  readonly networks: KnownNetworks
  readonly restoration: Restoration
  readonly index: ServiceIndex
  readonly statuses: StatusWriter
  readonly busy: Busy
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
