import type {
  Busy,
  KnownDomains,
  KnownLoadBalancers,
  KnownNetworks,
  KnownPools,
  RefusedHost,
  Restoration,
} from '@spout/connector'
import type { CompiledRoutes } from '../to-model/compiled-routes.ts'
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
  /** The same: a Gateway is decided alone. */
  readonly index: GatewayIndex
  readonly listenerSets: ListenerSetIndex
  readonly routes: RouteIndex
  readonly policies: PolicyIndex
  readonly statuses: Statuses
  readonly compiled: CompiledRoutes
  readonly stale: StaleGateways
  readonly busy: Busy
  readonly withdrawing: Map<string, Set<string>>
  /** UIDs of Gateways that were shown and deleted, while a load balancer names them. */
  readonly departed: Set<string>
  /** Hosts that the control plane refused, by Gateway. */
  readonly refusedHosts: Map<string, readonly RefusedHost[]>
  /** Looks at the routes of a Gateway. */
  readonly addRoutesOf: (gateway: string) => void
  /** Looks at a Gateway, if it is ours. */
  readonly addUnit: (gateway: string) => void
  /** Looks at what a Gateway leaves behind. */
  readonly addLeaving: (key: string) => void
}
