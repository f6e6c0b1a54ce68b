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
  /** The ranges that `spec.externalIPs` may be taken from. Empty: the field is ignored. */
  readonly externalRanges: readonly Cidr[]
  /** The project's network whose routes to pods we maintain; null: we maintain none. */
  readonly routesOfNetwork: string | null
  /** How routes lead to pods. Left out: each pod is reached through its node. */
  readonly podWay?: PodWay
}

export interface ServiceControllerOptions
  extends Omit<IntentOptions<Cluster, ServiceControllerSettings>, 'certificates'> {
  /** Left out: Services that name a Secret are refused. */
  readonly certificates?: Pick<TlsCertificates, 'of' | 'name' | 'complete' | 'onChange'>
  /** How many keys are processed concurrently. */
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
  /** Ids of deleted load balancers that nodes may still serve, by the key of the Service that waits for the nodes. */
  readonly withdrawing: Map<string, Set<string>>
  /** Keys of Services for which a load balancer may be being created now. */
  readonly working: Set<string>
  /** Which Services name which Secret. */
  readonly secrets: Dependents
  /** UIDs of Services that the watch showed and that are gone. Kept while a load balancer names them. */
  readonly departed: Set<string>
  /** How long a creation may wait for others to share its call; 0 unless many Services are queued. */
  readonly patienceMs: () => number
  readonly addUnit: (unit: string) => void
  readonly addLeaving: (key: string) => void
}
