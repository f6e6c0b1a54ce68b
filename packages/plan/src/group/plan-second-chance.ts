import { isAnnouncedByEveryNode, MOST_HOPS, type NodeGroup, type SecondChance } from '@spout/model'
import { type GroupNode, hasSuccessor } from '../announcers/group-node.ts'

export interface SecondChancePlan {
  /** By node id. Nodes without a part are left out. */
  readonly byNode: ReadonlyMap<string, SecondChance>
  /** When time alone changes the plan next, in milliseconds since 1970. Null: it does not. */
  readonly againAtMs: number | null
}

/**
 * Plans where a node forwards packets of proxied connections that it does not know: to the node that was drained last,
 * from there to the one drained before it, and so on. If every node announces, routers may move flows of any node when
 * a node leaves or returns, so all other nodes are next in that order. All nodes use the same order, so forwarding
 * ends. Lost nodes are not in it, because they have lost their connections, nor are drained nodes without clients.
 * @param nodes the existing nodes of the group, silent ones too, by id
 * @param heldBack ids of draining nodes that keep their addresses for now. Other nodes already learn where to forward
 * their packets, but they do not ask clients to reconnect yet
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
  // The times since which a node drains its clients: since its own drain, even if it returns earlier than they leave.
  // If every node announces, also since another node returned, because that one takes clients from all others.
  const left = (node: GroupNode): readonly (string | null)[] => [
    (node.scheduling === 'draining' || node.departed !== true) && !heldBack.has(node.id) ? node.drainedSince : null,
    ...(dealtAnew ? nodes.filter((one) => one !== node && isBack(one)) : []).map((one) => one.schedulingSince),
  ]
  // When a node last left connections behind: by a drain, or by handing over a shard.
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
