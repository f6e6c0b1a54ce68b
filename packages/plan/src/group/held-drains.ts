import type { GroupNode } from '../announcers/group-node.ts'

/**
 * How long a planned move waits until all connected nodes have confirmed that they know of it. A busy node takes
 * seconds, and would reset connections that reach it earlier. The limit keeps a node that never confirms from blocking
 * the move for ever.
 */
export const KNOWN_WITHIN_MS = 10_000
/** How long a planned move waits for nodes that cannot take over yet, if another one can already. */
const READY_WITHIN_MS = 10_000

/** Names of nodes that a drain waits for. */
export interface AwaitedNodes {
  /** Nodes that cannot announce yet. */
  readonly unready: readonly string[]
  /** Nodes that have not reported since the start of the control plane. */
  readonly unheard: readonly string[]
}

export interface HeldDrains {
  /** Ids of draining nodes that keep their addresses for now. */
  readonly nodeIds: ReadonlySet<string>
  /** By id of the draining node: the nodes that it waits for, because none is known to be able to take over yet. */
  readonly waitsFor: ReadonlyMap<string, AwaitedNodes>
  /** When time alone changes this next, in milliseconds since 1970. Null: it does not. */
  readonly againAtMs: number | null
}

/**
 * Drains that do not begin yet, for one of two reasons:
 * - A node that would take over does not know yet where to forward the packets of the drained node's connections. The
 *   drain waits at most ten seconds for that.
 * - A node that would take over cannot announce yet, because it has just started and has no session with a router. If
 *   none of the others can, the drained node keeps its addresses, as it does without a successor.
 * A node that has not reported since the start of the control plane may be either. It is waited for until it reports or
 * is overdue, so a restart begins no drain that waited before it.
 * @param knows whether a node has confirmed its present group entry
 */
export function heldBack(nodes: readonly GroupNode[], knows: (node: GroupNode) => boolean, nowMs: number): HeldDrains {
  const others = nodes.filter(({ scheduling, connection }) => scheduling !== 'draining' && connection === 'connected')
  const namesOf = (able: boolean | undefined) =>
    others.filter(({ canTakeOver }) => canTakeOver === able).map(({ name }) => name)
  const awaitedNodes: AwaitedNodes = { unready: namesOf(false), unheard: namesOf(undefined) }
  const isOneUnready = others.some(({ canTakeOver }) => canTakeOver !== true)
  const isOneReady = others.some(({ canTakeOver }) => canTakeOver === true)
  const knownWithinMs = others.every(knows) ? 0 : KNOWN_WITHIN_MS
  const readyWithinMs = isOneReady ? READY_WITHIN_MS : Number.POSITIVE_INFINITY
  const nodeIds = new Set<string>()
  const waitsFor = new Map<string, AwaitedNodes>()
  const ends: number[] = []
  for (const { id, scheduling, drainedSince, drainBegun, canTakeOver } of nodes) {
    if (scheduling !== 'draining' || drainedSince === null || drainBegun === true) continue
    // A node that cannot announce either loses nothing by the drain.
    const awaited = canTakeOver !== false && isOneUnready
    const endMs = Date.parse(drainedSince) + Math.max(knownWithinMs, awaited ? readyWithinMs : 0)
    if (nowMs >= endMs) continue
    nodeIds.add(id)
    if (awaited) waitsFor.set(id, awaitedNodes)
    if (Number.isFinite(endMs)) ends.push(endMs)
  }
  return { nodeIds, waitsFor, againAtMs: ends.length === 0 ? null : Math.min(...ends) }
}

/**
 * Ids of enabled nodes that cannot announce yet and therefore take over only if no other node can. There are such nodes
 * only while a node of the group drains and another one can take over. Otherwise nodes that start together share the
 * shards, whichever has a session first.
 */
export function unreadyOf(nodes: readonly GroupNode[]): ReadonlySet<string> {
  const others = nodes.filter(({ scheduling, connection }) => scheduling === 'enabled' && connection === 'connected')
  const isDue = nodes.some(({ scheduling }) => scheduling === 'draining')
  if (!isDue || !others.some(({ canTakeOver }) => canTakeOver === true)) return new Set()
  return new Set(others.filter(({ canTakeOver }) => canTakeOver === false).map(({ id }) => id))
}
