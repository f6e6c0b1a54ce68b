import type { Node } from '@spout/model'
import type { PlannedNode } from '../placement/place.ts'

/** A node of a group as its neighbours see it. */
export interface GroupNode extends Pick<Node, 'id' | 'name' | 'scheduling' | 'schedulingSince' | 'drainedSince'> {
  /** Its address on the fabric; null while nobody has said. */
  readonly fabricAddress: string | null
  readonly connection: PlannedNode['connection']
  /** Whether its proxies have no client any more since it was drained last. Left out: not known to be so. */
  readonly departed?: boolean
  /** When it was last told to give a shard to another node and to stay (`NodeGroup.rebalance`). Left out: never. */
  readonly movedSince?: string | null
  /** The shards that it was told to give away then. Left out: none. */
  readonly movedShards?: readonly number[]
}

export const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

/**
 * Whether another node of the group can take over what this one gives up. One that is silent may be dead: while it is,
 * a draining node takes part again, as a backup that moves nothing by itself.
 */
export const hasSuccessor = (node: GroupNode, nodes: readonly GroupNode[]): boolean =>
  nodes.some((other) => other.id !== node.id && other.scheduling !== 'draining' && other.connection === 'connected')
