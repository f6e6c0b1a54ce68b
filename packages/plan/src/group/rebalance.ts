import type { Node, NodeGroup, NodeStatus, PlannedMove, ShardStatus } from '@spout/model'
import type { AnnouncerStatus } from '../announcers/announcer-planner.ts'
import type { GroupNode } from '../announcers/group-node.ts'
import { canTakeOver } from '../announcers/registry.ts'

/** A node of a group, as far as balancing depends on it. */
export interface BalancedNode extends Pick<GroupNode, 'id' | 'name' | 'scheduling' | 'connection'> {
  /** Whether its data plane has everything that it should. */
  readonly inSync: boolean
  /** False while it could not announce the addresses of a shard, but another node of the group could. */
  readonly canAnnounce: boolean
  /** Whether it has not reported since the start of the control plane, and may still do so. */
  readonly unheard: boolean
}

/** The readers of nodes and their statuses. */
export interface NodesRead {
  readonly view: { list(kind: 'node'): readonly Node[] }
  readonly status: { node(id: string): Pick<NodeStatus, 'connection' | 'inSync' | 'lastReportAt'> & AnnouncerStatus }
}

/** The nodes of a group, as `planRebalance` needs them. */
export function balancedNodes(group: NodeGroup, { view, status: statuses }: NodesRead): readonly BalancedNode[] {
  const own = view
    .list('node')
    .filter((node) => node.nodeGroupId === group.id)
    .map(({ id, name, scheduling }) => {
      const status = statuses.node(id)
      const { connection, inSync, lastReportAt } = status
      const unheard = connection === 'disconnected' && lastReportAt === null
      return { id, name, scheduling, connection, inSync, canAnnounce: canTakeOver(group, status), unheard }
    })
  // If no node can announce, a move makes nothing worse. A node that has not reported yet may be one that can.
  const mayOne = own.some(({ canAnnounce, unheard }) => canAnnounce || unheard)
  return mayOne ? own : own.map((node) => ({ ...node, canAnnounce: true }))
}

/** A shard, as far as balancing depends on it. */
export type BalancedShard = Pick<ShardStatus, 'number' | 'ownerNodeId' | 'state' | 'nodes'>

export interface MoveStep extends PlannedMove {
  readonly state: 'done' | 'moving' | 'waiting' | 'failed'
  /** Why it failed, or what it still waits for. Null otherwise. */
  readonly message: string | null
}

/** Time limit of one move. The time of a move begins when that of the move before it ends. */
export const STEP_MS = 15_000

type Rebalance = NonNullable<NodeGroup['rebalance']>

/** When the time of a requested move ends, in milliseconds since 1970. @param at its place among the moves */
export const moveEndsAtMs = ({ askedAt }: Pick<Rebalance, 'askedAt'>, at: number): number =>
  Date.parse(askedAt) + (at + 1) * STEP_MS

/** When the time of the last requested move ends. After that none is under way. */
export const movesEndAtMs = (rebalance: Rebalance): number => moveEndsAtMs(rebalance, rebalance.moves.length - 1)

/**
 * The fewest moves after which the numbers of shards of ready nodes differ by at most one. Shards of other nodes stay:
 * a draining node hands over by itself, and a cordoned one keeps its shards. Shards without exactly one owner stay,
 * too.
 * @returns the moves, in order of the shards' numbers
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
  // The nodes that own most get the remainder, so that fewer shards move.
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
 * The progress of requested moves. They run one at a time, each when its new owner is ready, and none after a failed
 * one. The progress is computed from the present owners, so that any process can continue.
 */
export function rebalanceSteps(
  { askedAt, moves }: Rebalance,
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
    const unheard = shard === undefined ? nodes.find((node) => node.unheard) : undefined
    if (unheard !== undefined)
      return { ...move, state: 'waiting', message: `node ${unheard.name} has not reported since the start` }
    const late = nowMs >= moveEndsAtMs({ askedAt }, at)
    const wrong = whyNever(move, shard, nodes)
    const message = wrong ?? whyNotYet(move, shard, nodes) ?? (late ? 'it was not taken over in time' : null)
    return { ...move, state: wrong !== null || late ? 'failed' : 'moving', message }
  })
}

/** The move under way; null if all are done, or one failed. */
export const moveUnderWay = (steps: readonly MoveStep[]): MoveStep | null =>
  steps.find(({ state }) => state === 'moving') ?? null

/** Why a move can no longer succeed; null if it can. */
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

/** Why a move cannot succeed at the moment; null if it can. A node that applies a change is only briefly not ready. */
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
