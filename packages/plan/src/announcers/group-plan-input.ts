import type { BgpAdvertisementIntent, BgpPeer, NodeGroup, PlannedMove, WatchedNode } from '@spout/model'
import type { GroupNode } from './group-node.ts'

/** Everything that the plan of a group's nodes depends on. */
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
  /** Ids of enabled nodes that take over only if no other node can (`unreadyOf`). Absent: none. */
  readonly unready?: ReadonlySet<string>
  /** The move of the group's `rebalance` that is due now. Absent or null: none. */
  readonly handOver?: PlannedMove | null
  /** By node id: the silent nodes that it should probe (`GroupEntry.watch`). Absent: none. */
  readonly watches?: ReadonlyMap<string, readonly WatchedNode[]>
}
