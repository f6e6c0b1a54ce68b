import type { BgpAdvertisementIntent, BgpPeer, NodeGroup, PlannedMove, WatchedNode } from '@spout/model'
import type { GroupNode } from './group-node.ts'

/** The input for the nodes' parts in a group. */
export interface GroupPlanInput {
  readonly group: NodeGroup
  /** The existing nodes of the group, silent ones too, by id. */
  readonly nodes: readonly GroupNode[]
  /** All stored BGP peers, templates included. */
  readonly peers: readonly BgpPeer[]
  readonly advertisements: readonly BgpAdvertisementIntent[]
  /** Milliseconds since 1970. */
  readonly nowMs: number
  /** Ids of draining nodes that are planned as if they were not (`heldBack`). */
  readonly heldBack?: ReadonlySet<string>
  /** Ids of nodes that cannot announce yet, while a drain needs others that can: they come after these. Absent: none. */
  readonly unready?: ReadonlySet<string>
  /** The move of the group's `rebalance` that is due now. Absent: none. */
  readonly handOver?: PlannedMove | null
  /** By node id: the silent nodes that it should probe (`GroupEntry.watch`). Absent: none. */
  readonly watches?: ReadonlyMap<string, readonly WatchedNode[]>
}
