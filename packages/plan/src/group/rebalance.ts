import type { Node, NodeGroup, NodeStatus, PlannedMove, ShardStatus } from '@spout/model'
import type { AnnouncerStatus } from '../announcers/announcer-planner.ts'
import type { GroupNode } from '../announcers/group-node.ts'
import { canTakeOver } from '../announcers/registry.ts'

/** A node of a group that may get shards. */
export interface BalancedNode extends Pick<GroupNode, 'id' | 'name' | 'scheduling' | 'connection'> {
  /** Its data plane has everything that it should. */
  readonly inSync: boolean
  /** False while it could not announce what it gets, and another node of the group could. */
  readonly canAnnounce: boolean
}

/** Where nodes and their statuses are read. */
export interface NodesRead {
  readonly view: { list(kind: 'node'): readonly Node[] }
  readonly status: { node(id: string): Pick<NodeStatus, 'connection' | 'inSync'> & AnnouncerStatus }
}

/** The nodes of a group, as `planRebalance` needs them. */
export function balancedNodes(group: NodeGroup, { view, status: statuses }: NodesRead): readonly BalancedNode[] {
  const own = view
    .list('node')
    .filter((node) => node.nodeGroupId === group.id)
    .map(({ id, name, scheduling }) => {
      const status = statuses.node(id)
      const { connection, inSync } = status
      return { id, name, scheduling, connection, inSync, canAnnounce: canTakeOver(group, status) }
    })
  // Where no node could, none has anything to lose.
  return own.some(({ canAnnounce }) => canAnnounce) ? own : own.map((node) => ({ ...node, canAnnounce: true }))
}

/** The facts about a shard that balancing needs. */
export type BalancedShard = Pick<ShardStatus, 'number' | 'ownerNodeId' | 'state' | 'nodes'>

export interface MoveStep extends PlannedMove {
  readonly state: 'done' | 'moving' | 'waiting' | 'failed'
  /** Why it failed, or what it still waits for; else null. */
  readonly message: string | null
}

/** Time limit of a move, after those before it. */
export const STEP_MS = 15_000

/**
 * The fewest moves after which the shards of ready nodes differ by at most one. Shards of other nodes stay: a draining
 * node hands over by itself, a cordoned one keeps what it has. So do shards without an owner, or with two.
 * @returns in order of the shards' numbers
 */
export function planRebalance(
  shards: readonly BalancedShard[],
  nodes: readonly BalancedNode[],
): readonly PlannedMove[] {
  const ready = nodes.filter((node) => whyNotReady(node) === null)
  const owned = new Map(ready.map(({ id }) => [id, [] as number[]]))
  for (const { number, ownerNodeId, state } of shards)
    if (state === 'settled') owned.get(ownerNodeId ?? '')?.push(number)
  const total = [...owned.values()].reduce((sum, numbers) => sum + numbers.length, 0)
  const least = Math.floor(total / Math.max(1, ready.length))
  // Nodes that own most keep the remainder, so that nothing moves for that.
  const quota = new Map(
    [...owned]
      .sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1))
      .map(([id], at) => [id, least + (at < total % ready.length ? 1 : 0)]),
  )
  const room = [...owned].flatMap(([id, { length }]) =>
    Array.from({ length: Math.max(0, (quota.get(id) ?? 0) - length) }, () => id),
  )
  return [...owned]
    .flatMap(([fromNodeId, numbers]) => numbers.slice(quota.get(fromNodeId)).map((shard) => ({ shard, fromNodeId })))
    .sort((a, b) => a.shard - b.shard)
    .map((move, at) => ({ ...move, toNodeId: room[at] ?? '' }))
}

/** Why a node may not get shards; null if it may. */
export function whyNotReady({ name, scheduling, connection, inSync, canAnnounce }: BalancedNode): string | null {
  if (connection !== 'connected') return `node ${name} is ${connection}`
  if (scheduling !== 'enabled') return `node ${name} is ${scheduling}`
  if (!inSync) return `node ${name} does not hold everything yet`
  return canAnnounce ? null : `node ${name} cannot announce its addresses yet`
}

/**
 * The progress of requested moves: one at a time, each when its new owner is ready, none after a failed one. It is
 * worked out anew from the present owners, so any process can continue.
 */
export function rebalanceSteps(
  { askedAt, moves }: NonNullable<NodeGroup['rebalance']>,
  shards: readonly BalancedShard[],
  nodes: readonly BalancedNode[],
  nowMs: number,
): readonly MoveStep[] {
  let open = true
  return moves.map((move, at): MoveStep => {
    const shard = shards.find(({ number }) => number === move.shard)
    if (shard?.state === 'settled' && shard.ownerNodeId === move.toNodeId)
      return { ...move, state: 'done', message: null }
    if (!open) return { ...move, state: 'waiting', message: null }
    open = false
    const late = nowMs >= Date.parse(askedAt) + (at + 1) * STEP_MS
    const wrong = whyNever(move, shard, nodes)
    const message = wrong ?? whyNotYet(move, shard, nodes) ?? (late ? 'it was not taken over in time' : null)
    return { ...move, state: wrong !== null || late ? 'failed' : 'moving', message }
  })
}

/** The move under way; null if all are done, or one failed. */
export const moveUnderWay = (steps: readonly MoveStep[]): MoveStep | null =>
  steps.find(({ state }) => state === 'moving') ?? null

function whyNever(
  { fromNodeId, toNodeId }: PlannedMove,
  shard: BalancedShard | undefined,
  nodes: readonly BalancedNode[],
): string | null {
  if (shard === undefined || !nodes.some(({ id }) => id === toNodeId)) return 'the shard or its new owner is gone'
  // During a move there may briefly be no owner, or two.
  const owner = shard.ownerNodeId
  return owner === null || owner === fromNodeId || owner === toNodeId ? null : 'the shard has another owner by now'
}

/** A node that applies a change is briefly not ready, so it gets time. */
function whyNotYet(
  { toNodeId }: PlannedMove,
  shard: BalancedShard | undefined,
  nodes: readonly BalancedNode[],
): string | null {
  const to = nodes.find(({ id }) => id === toNodeId)
  const there = shard?.nodes.find(({ nodeId }) => nodeId === toNodeId)?.state
  const unready = to === undefined ? null : whyNotReady(to)
  if (unready !== null || to === undefined) return unready
  return there === 'backup' || there === 'master' ? null : `node ${to.name} takes no part in the shard`
}
