import type {
  Busy,
  IntentOptions,
  IntentSettings,
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
} from '@spout/connector'
import type { Cluster } from './cluster.ts'
import type { IngressIndex } from './ingress-index.ts'
import type { IngressStatuses } from './ingress-statuses.ts'

export type IngressControllerSettings = IntentSettings
export type IngressControllerOptions = IntentOptions<Cluster>

/** State shared by the parts of the controller. */
export interface ControllerContext extends IngressControllerOptions {
  readonly kind: 'ingress'
  readonly known: KnownLoadBalancers
  readonly pools: KnownPools
  readonly networks: KnownNetworks
  readonly domains: KnownDomains
  readonly index: IngressIndex
  readonly statuses: IngressStatuses
  readonly busy: Busy
  readonly withdrawing: Map<string, Set<string>>
  /** UIDs of Ingresses that the watch showed and that are gone, kept while a load balancer names them. */
  readonly departed: Set<string>
  readonly addUnit: (unit: string) => void
  readonly addLeaving: (key: string) => void
}
