import type {
  DedicatedProxy,
  LoadBalancer,
  LoadBalancerEntry,
  Network,
  Placement,
  RequestSizes,
  SecurityRule,
} from '@spout/model'
import type { PlannedNode } from '../placement/place.ts'
import type { Reason } from '../reason.ts'
import type { Announcing } from './announcing-in.ts'
import type { KnownPools } from './known-pools.ts'
import type { KnownNodeRoutes } from './node-routes.ts'
import type { CertificateOf } from './node-tls.ts'

/** Everything that the plan of one load balancer depends on. */
export interface LoadBalancerPlanInput {
  readonly loadBalancer: LoadBalancer
  /** The network of `loadBalancer.networkId`. Null: that is null, or the network was deleted. */
  readonly network: Network | null
  readonly group: { readonly name: string; readonly nodes: readonly PlannedNode[] }
  /** `CarryingGroup.namesFabric`. Absent: false. */
  readonly namesFabric?: boolean
  readonly announcing: Announcing
  readonly previous: Placement | null
  /**
   * The entry that nodes were last sent. Its unchanged members and routes are reused as the same objects, which makes
   * comparisons cheap. The plan does not depend on it otherwise.
   */
  readonly entryBefore?: LoadBalancerEntry | null
  /** A cache of planned routes, to which new ones are added. The plan does not depend on it. Default: an empty one. */
  readonly nodeRoutes?: KnownNodeRoutes
  /** The same for planned pools. */
  readonly knownPools?: KnownPools
  /**
   * `PlacementIndex.gatewayOwners(networkId)`. With return path `gateway` one node has the members' gateway address, so
   * it owns all load balancers of the network that it can carry.
   */
  readonly gatewayOwnerIds: readonly string[]
  /** `PlacementIndex.freePoolNumber(networkId, after)`. */
  readonly freePoolNumber: (after: number) => number | null
  /** The class's limit of simultaneous connections per listener. Null: only the listener's own limit applies. */
  readonly connectionLimit: number | null
  /** The rules of the security groups that the load balancer names. Null or absent: it names none. */
  readonly securityRules?: readonly SecurityRule[] | null
  /** The class's limits of the load balancer's own proxy. Absent: it shares a proxy. */
  readonly dedicatedProxy?: DedicatedProxy | undefined
  /** The class's size limits for requests. Absent: the proxy's own limits. */
  readonly requestSizes?: RequestSizes | undefined
  /** Looks up the project's certificates. */
  readonly certificateOf: CertificateOf
  /** RFC 3339: the time for the placement, used if it differs from the previous one. */
  readonly now: string
}

/** The plan of one load balancer: its placement, and the entry of each node. */
export interface LoadBalancerPlan {
  /** `previous` itself if nothing changed. Then nothing needs to be stored. */
  readonly placement: Placement
  /** By node id. Nodes with equal entries share one object. Empty while no node can carry it. */
  readonly entries: ReadonlyMap<string, LoadBalancerEntry>
  readonly reason: Reason
}
