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
import type { KnownNodeRoutes } from './node-routes.ts'
import type { CertificateOf } from './node-tls.ts'

/** Everything that the plan of one load balancer depends on. */
export interface LoadBalancerPlanInput {
  readonly loadBalancer: LoadBalancer
  /** The network of `loadBalancer.networkId`; null if it is null or the network is gone. */
  readonly network: Network | null
  readonly group: { readonly name: string; readonly nodes: readonly PlannedNode[] }
  readonly announcing: Announcing
  readonly previous: Placement | null
  /**
   * The nodes' last entry. Its unchanged members and routes are reused as the same objects. Nothing else depends on it.
   */
  readonly entryBefore?: LoadBalancerEntry | null
  /** The routes that nodes got before; new ones are added. It only saves work. Default: none. */
  readonly nodeRoutes?: KnownNodeRoutes
  /**
   * `PlacementIndex.gatewayOwners(networkId)`. With return path `gateway` one node has the members' gateway address, so
   * all load balancers of the network that this node can carry are on it.
   */
  readonly gatewayOwnerIds: readonly string[]
  /** `PlacementIndex.freePoolNumber(networkId, after)`. */
  readonly freePoolNumber: (after: number) => number | null
  /** Connections at once of each listener at most, as its class says; null: as many as the listener says. */
  readonly connectionLimit: number | null
  /** The rules of the security groups that it names; null or absent: it names none. */
  readonly securityRules?: readonly SecurityRule[] | null
  /** Limits of the proxy of its own, as its class says. Absent: it shares one. */
  readonly dedicatedProxy?: DedicatedProxy | undefined
  /** Larger requests are refused, as its class says. Absent: as large as the proxy takes. */
  readonly requestSizes?: RequestSizes | undefined
  /** Certificates of the project. */
  readonly certificateOf: CertificateOf
  /** RFC 3339: the time of the placement, if it differs from the previous one. */
  readonly now: string
}

/** What became of one load balancer, and what each node gets of it. */
export interface LoadBalancerPlan {
  /** `previous` itself when nothing changed, and nothing needs to be written. */
  readonly placement: Placement
  /** By node id. Nodes with equal entries share one object. Empty while no node can carry it. */
  readonly entries: ReadonlyMap<string, LoadBalancerEntry>
  readonly reason: Reason
}
