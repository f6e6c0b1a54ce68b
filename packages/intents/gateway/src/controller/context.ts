import type {
  Busy,
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  RefusedHost,
  Restoration,
} from '@spout/connector'
import type { CompiledRoutes } from '../to-model/gateways/compiled-routes.ts'
import type { TooMuch } from './bring-gateway.ts'
import type { GatewayIndex } from './gateway-index.ts'
import type { ListenerSetIndex } from './listener-set-index.ts'
import type { GatewayControllerOptions } from './options.ts'
import type { PolicyIndex } from './policy-index.ts'
import type { RouteIndex } from './route-index.ts'
import type { StaleGateways } from './stale-gateways.ts'
import type { Statuses } from './statuses.ts'

/** State shared by the parts of the controller. */
export interface ControllerContext extends GatewayControllerOptions {
  readonly kind: 'gateway'
  readonly known: KnownLoadBalancers
  readonly pools: KnownPools
  readonly networks: KnownNetworks
  readonly domains: KnownDomains
  readonly restoration: Restoration
  readonly gateways: GatewayIndex
  /** The same index, under the name that shared code expects: each Gateway is its own unit. */
  readonly index: GatewayIndex
  readonly listenerSets: ListenerSetIndex
  readonly routes: RouteIndex
  readonly policies: PolicyIndex
  readonly statuses: Statuses
  readonly compiled: CompiledRoutes
  readonly stale: StaleGateways
  readonly busy: Busy
  /** Ids of deleted load balancers that nodes may still hold, by the Gateway that waits for it. */
  readonly withdrawing: Map<string, Set<string>>
  /** UIDs of Gateways that the watch showed and that are gone, kept while a load balancer names them. */
  readonly departed: Set<string>
  /** Hosts that the control plane refused, by Gateway. */
  readonly refusedHosts: Map<string, readonly RefusedHost[]>
  /** Routes beyond the project's quota, or the limit of a listener, by Gateway. */
  readonly tooMuch: Map<string, TooMuch>
  /** Queues the status of a Gateway. */
  readonly addStatusOf: (gateway: string) => void
  /** Queues the routes of a Gateway: all, or those with these UIDs. */
  readonly addRoutesOf: (gateway: string, uids?: ReadonlySet<string>) => void
  /** Queues a Gateway if it is ours. */
  readonly addUnit: (gateway: string) => void
  /** Queues a Gateway that is no longer ours, to clean up after it. */
  readonly addLeaving: (key: string) => void
}
