import { isAnnouncedByEveryNode, type NodeGroup, type SecondChance } from '@spout/model'
import { type GroupNode, hasSuccessor } from '../announcers/group-node.ts'

/** Limit of forwards for a packet that belongs to no connection. */
const MOST_HOPS = 8

export interface SecondChancePlan {
  /** By node id. Nodes without a part are left out. */
  readonly byNode: ReadonlyMap<string, SecondChance>
  /** Milliseconds since 1970 when time alone changes the plan; null if it does not. */
  readonly againAtMs: number | null
}

/**
 * Where a node forwards packets of proxied connections that it does not know: to the node that was drained last, from
 * there to the one drained before it, and so on. Where every node announces, routers may move any node's flows when a
 * node goes or returns, so the other nodes follow. All nodes use the same order, so a packet comes to an end. A lost
 * node has lost its connections, and a node whose clients have all gone has none.
 * @param nodes the existing nodes of the group, silent ones too, by id
 * @param heldBack ids of draining nodes that keep their addresses for now: the others know the way to them already, and they
 *   ask no client to reconnect yet
 */
export function planSecondChance(
  group: Pick<NodeGroup, 'announcer' | 'secondChanceSeconds'>,
  nodes: readonly GroupNode[],
  nowMs: number,
  heldBack: ReadonlySet<string> = new Set(),
): SecondChancePlan {
  const seconds = group.secondChanceSeconds
  const dealtAnew = isAnnouncedByEveryNode(group)
  const isLately = (time: string | null): time is string => time !== null && nowMs < endsAtMs(time, seconds)
  const moved = (node: GroupNode): readonly string[] =>
    [node.drainedSince, node.movedSince ?? null, dealtAnew ? node.schedulingSince : null].filter(isLately)
  const moves = nodes.flatMap(moved).sort(byTime)
  const since = moves.at(-1)
  if (since === undefined) return { byNode: new Map(), againAtMs: null }
  // A node gives up its clients with its addresses, even if it returns before they do. Where every node announces, a
  // returning node takes clients from all others.
  const left = (node: GroupNode): readonly (string | null)[] => [
    (node.scheduling === 'draining' || node.departed !== true) && !heldBack.has(node.id) ? node.drainedSince : null,
    ...(dealtAnew ? nodes.filter((one) => one !== node && isBack(one)) : []).map((one) => one.schedulingSince),
  ]
  // A shard that was handed over leaves connections behind, as a drain does.
  const leftAt = ({ drainedSince, departed, movedSince = null }: GroupNode): string | null =>
    [departed === true ? null : drainedSince, movedSince].filter(isLately).sort(byTime).at(-1) ?? null
  const present = nodes.filter(
    (node) =>
      node.connection !== 'lost' && node.connection !== 'never' && (node.departed !== true || leftAt(node) !== null),
  )
  const drained = present.filter((node) => leftAt(node) !== null)
  const newestFirst = drained.toSorted((a, b) => byTime(leftAt(b) ?? '', leftAt(a) ?? ''))
  const others = present.filter((node) => node.connection === 'connected' && !drained.includes(node))
  const order = [...newestFirst, ...(dealtAnew ? others : [])]
    .filter(({ fabricAddress }) => fabricAddress !== null)
    .slice(0, MOST_HOPS)
  const byNode = new Map<string, SecondChance>()
  for (const node of nodes) {
    const first = order.find((one) => one !== node) ?? null
    const leavingSince = hasSuccessor(node, nodes) ? (left(node).filter(isLately).sort(byTime).at(-1) ?? null) : null
    const handedOver = handedOverBy(node, isLately)
    if (first === null && leavingSince === null && handedOver === null) continue
    const next = order.includes(node) ? (order[order.indexOf(node) + 1] ?? null) : null
    byNode.set(node.id, {
      first: first?.fabricAddress ?? null,
      next: next?.fabricAddress ?? null,
      ...(first !== null && { firstNode: first.id }),
      ...(next !== null && { nextNode: next.id }),
      leavingSince,
      since,
      seconds,
      ...(handedOver !== null && { handedOver }),
    })
  }
  return { byNode, againAtMs: endsAtMs(moves[0] ?? since, seconds) }
}

const handedOverBy = (
  { movedSince: since = null, movedShards: shards = [] }: GroupNode,
  isLately: (time: string | null) => time is string,
): SecondChance['handedOver'] | null => (isLately(since) && shards.length > 0 ? { shards, since } : null)

const isBack = ({ scheduling, drainedSince }: GroupNode): boolean => scheduling === 'enabled' && drainedSince !== null

const byTime = (a: string, b: string): number => Date.parse(a) - Date.parse(b)
const endsAtMs = (since: string, seconds: number): number => Date.parse(since) + 1000 * seconds
