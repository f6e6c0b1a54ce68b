import type { GroupNode } from '../announcers/group-node.ts'

/**
 * How long a planned move waits for connected nodes to confirm that they know of it. A busy node takes seconds, and
 * resets connections that reach it before. One that is connected and never confirms must not keep the move for ever.
 */
export const KNOWN_WITHIN_MS = 10_000
/** How long it waits for the last of the nodes that may take over, if another one can already. */
const READY_WITHIN_MS = 10_000

export interface HeldDrains {
  /** Draining nodes that keep their addresses for now. */
  readonly nodeIds: ReadonlySet<string>
  /** By id of a draining node: names of the nodes that it waits for because they cannot take over yet. */
  readonly waitsFor: ReadonlyMap<string, readonly string[]>
  /** Milliseconds since 1970 when time alone changes that; null if it does not. */
  readonly againAtMs: number | null
}

/**
 * Drains that do not begin yet, because a node that would take over
 * - does not know yet where to forward packets of the drained node's connections, for at most ten seconds
 * - cannot announce yet: a node that has just started has no session with a router, and the addresses would be nowhere.
 *   If no other node can, the drained node keeps them, as it does without a successor.
 * @param knows whether a node confirmed its present group entry
 */
export function heldBack(nodes: readonly GroupNode[], knows: (node: GroupNode) => boolean, nowMs: number): HeldDrains {
  const others = nodes.filter(({ scheduling, connection }) => scheduling !== 'draining' && connection === 'connected')
  const unready = others.filter(({ canTakeOver }) => canTakeOver === false)
  const knownWithinMs = others.every(knows) ? 0 : KNOWN_WITHIN_MS
  const readyWithinMs = unready.length < others.length ? READY_WITHIN_MS : Number.POSITIVE_INFINITY
  const nodeIds = new Set<string>()
  const waitsFor = new Map<string, readonly string[]>()
  const ends: number[] = []
  for (const { id, scheduling, drainedSince, canTakeOver } of nodes) {
    if (scheduling !== 'draining' || drainedSince === null) continue
    // A node that announces nothing itself has nothing to lose.
    const awaited = canTakeOver === true && unready.length > 0
    const endMs = Date.parse(drainedSince) + Math.max(knownWithinMs, awaited ? readyWithinMs : 0)
    if (nowMs >= endMs) continue
    nodeIds.add(id)
    if (awaited)
      waitsFor.set(
        id,
        unready.map(({ name }) => name),
      )
    if (Number.isFinite(endMs)) ends.push(endMs)
  }
  return { nodeIds, waitsFor, againAtMs: ends.length === 0 ? null : Math.min(...ends) }
}

/**
 * Ids of enabled nodes that cannot announce yet, while a node of the group drains and another one can: they take over only
 * if no other does. Else none: nodes that start together share the shards, whichever is the first with a session.
 */
export function unreadyOf(nodes: readonly GroupNode[]): ReadonlySet<string> {
  const others = nodes.filter(({ scheduling, connection }) => scheduling === 'enabled' && connection === 'connected')
  const isDue = nodes.some(({ scheduling }) => scheduling === 'draining')
  if (!isDue || !others.some(({ canTakeOver }) => canTakeOver === true)) return new Set()
  return new Set(others.filter(({ canTakeOver }) => canTakeOver === false).map(({ id }) => id))
}
