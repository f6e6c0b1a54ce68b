import type { Node } from '@spout/model'
import type { PlannedNode } from '../placement/place.ts'

/** The facts about a node that the plan of its group depends on. */
export interface GroupNode extends Pick<Node, 'id' | 'name' | 'scheduling' | 'schedulingSince' | 'drainedSince'> {
  /** Its address on the fabric; null while unknown. */
  readonly fabricAddress: string | null
  readonly connection: PlannedNode['connection']
  /** Whether its drain has begun (`Node.drainBegunAt`). Absent: no. */
  readonly drainBegun?: boolean
  /**
   * Whether it could announce the addresses that another gives up (`AnnouncerPlanner.canTakeOver`). Absent: unknown,
   * because it has not reported since the start of the control plane.
   */
  readonly canTakeOver?: boolean
  /** Whether its proxies have had no client left since its last drain. Absent: unknown. */
  readonly departed?: boolean
  /**
   * Whether it said that it does not work on the fabric interface that the group names (`FABRIC_OF_GROUP`). Absent: no.
   */
  readonly lacksFabric?: boolean
  /** When it was last told to hand over a shard and stay in service (`NodeGroup.rebalance`). Absent: never. */
  readonly movedSince?: string | null
  /** The shards that it was told to hand over then. Absent: none. */
  readonly movedShards?: readonly number[]
}

export const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

/**
 * Whether another node of the group can take over the addresses that this one gives up. Silent nodes do not count,
 * because they may be dead: while all others are silent, a draining node takes part again, as a backup that moves
 * nothing by itself.
 */
export const hasSuccessor = (node: GroupNode, nodes: readonly GroupNode[]): boolean =>
  nodes.some((other) => other.id !== node.id && other.scheduling !== 'draining' && other.connection === 'connected')
