import type { Node } from '@spout/model'
import type { PlannedNode } from '../placement/place.ts'

/** A node of a group, as its neighbours know it. */
export interface GroupNode extends Pick<Node, 'id' | 'name' | 'scheduling' | 'schedulingSince' | 'drainedSince'> {
  /** Its address on the fabric; null while unknown. */
  readonly fabricAddress: string | null
  readonly connection: PlannedNode['connection']
  /** Whether it could announce what another gives up (`canTakeOver`). Absent: not known. */
  readonly canTakeOver?: boolean
  /** Whether its proxies have no client left since its last drain. Absent: not known. */
  readonly departed?: boolean
  /** Time of the last order to hand over a shard and stay in service (`NodeGroup.rebalance`). Absent: never. */
  readonly movedSince?: string | null
  /** The shards of that order. Absent: none. */
  readonly movedShards?: readonly number[]
}

export const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

/**
 * Whether another node of the group can take over what this one gives up. A silent node may be dead, so while all
 * others are silent a draining node takes part again, as a backup that moves nothing by itself.
 */
export const hasSuccessor = (node: GroupNode, nodes: readonly GroupNode[]): boolean =>
  nodes.some((other) => other.id !== node.id && other.scheduling !== 'draining' && other.connection === 'connected')
