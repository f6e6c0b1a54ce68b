import type { NodeGroup, PlannedMove } from '@spout/model'
import { type BalancedNode, type BalancedShard, type MoveStep, moveEndsAtMs, whyNotReady } from './rebalance.ts'

/**
 * The move that takes a shard away from its owner, to the ready node with the fewest shards that takes part in this
 * one. Null if there is no such node, or the shard has no owner.
 */
export function planShardFailover(
  { number, ownerNodeId, nodes: parts }: BalancedShard,
  shards: readonly BalancedShard[],
  nodes: readonly BalancedNode[],
): PlannedMove | null {
  if (ownerNodeId === null) return null
  const owned = (nodeId: string) => shards.filter((shard) => shard.ownerNodeId === nodeId).length
  const takesPart = (nodeId: string) => parts.some((part) => part.nodeId === nodeId && part.state === 'backup')
  const [to] = nodes
    .filter((node) => node.id !== ownerNodeId && whyNotReady(node) === null && takesPart(node.id))
    .sort((a, b) => owned(a.id) - owned(b.id) || (a.id < b.id ? -1 : 1))
  return to === undefined ? null : { shard: number, fromNodeId: ownerNodeId, toNodeId: to.id }
}

/**
 * Puts a move before the present moves of a group. Failed ones are dropped, because they would run again.
 * @param steps the progress of the present moves
 */
export const withMove = (move: PlannedMove, steps: readonly MoveStep[]): readonly PlannedMove[] => [
  move,
  ...steps
    .filter(({ shard, state }) => shard !== move.shard && state !== 'failed')
    .map(({ shard, fromNodeId, toNodeId }) => ({ shard, fromNodeId, toNodeId })),
]

/**
 * Until when a requested move may take the shard away from the node, in milliseconds since 1970. Null: none was
 * requested.
 */
export function mayLeaveUntilMs(
  { rebalance }: Pick<NodeGroup, 'rebalance'>,
  shard: number,
  fromNodeId: string,
): number | null {
  const at = rebalance?.moves.findIndex((move) => move.shard === shard && move.fromNodeId === fromNodeId) ?? -1
  return rebalance === undefined || at < 0 ? null : moveEndsAtMs(rebalance, at)
}
