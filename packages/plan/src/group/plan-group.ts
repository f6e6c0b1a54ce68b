import {
  type BgpAdvertisementIntent,
  type BgpPeer,
  GROUP_KEY,
  type GroupEntry,
  NODE_STATE_VERSION,
  type NodeGroup,
  type PlannedMove,
  type WatchedNode,
} from '@spout/model'
import { planBgp } from '../announcers/bgp/plan-bgp.ts'
import type { GroupNode } from '../announcers/group-node.ts'
import { planVrrp } from '../announcers/vrrp/plan-vrrp.ts'
import type { Reason } from '../reason.ts'
import { planFlows } from './plan-flows.ts'
import { planSecondChance } from './plan-second-chance.ts'

export interface GroupPlanInput {
  readonly group: NodeGroup
  /** The existing nodes of the group, silent ones too, by id. */
  readonly nodes: readonly GroupNode[]
  /** All stored BGP peers, templates included. */
  readonly peers: readonly BgpPeer[]
  readonly advertisements: readonly BgpAdvertisementIntent[]
  /** Milliseconds since 1970. */
  readonly nowMs: number
  /** Ids of draining nodes that are planned as if they were not (`heldBack`). */
  readonly heldBack?: ReadonlySet<string>
  /** The move of the group's `rebalance` that is due now. Absent: none. */
  readonly handOver?: PlannedMove | null
  /** By node id: the silent nodes that it should probe (`GroupEntry.watch`). Absent: none. */
  readonly watches?: ReadonlyMap<string, readonly WatchedNode[]>
}

export interface GroupPlan {
  /** By node id. In a group that announces by `l2` nodes take part in nothing of their own but second chances. */
  readonly entries: ReadonlyMap<string, GroupEntry>
  /** What keeps a node from announcing as its group requires, by node id. */
  readonly problems: ReadonlyMap<string, readonly Reason[]>
  /** Milliseconds since 1970 when time alone changes the plan; null if it does not. */
  readonly againAtMs: number | null
}

/** Plans each node's part in its group's announcements. It depends on its input alone. */
export function planGroup(input: GroupPlanInput): GroupPlan {
  const { group, nodes } = input
  const entries = new Map<string, GroupEntry>()
  const problems = new Map<string, readonly Reason[]>()
  const chances = planSecondChance(group, nodes, input.nowMs)
  let { againAtMs } = chances
  if (group.announcer === 'l2') {
    for (const [id, secondChance] of chances.byNode) entries.set(id, { ...NO_PART, secondChance })
    for (const [id, watch] of input.watches ?? []) entries.set(id, { ...NO_PART, ...entries.get(id), watch })
    return { entries, problems, againAtMs }
  }
  const heldBack = input.heldBack ?? new Set<string>()
  const vrrp = planVrrp(group, nodes, heldBack, input.handOver ?? null)
  for (const node of nodes) {
    const found: Reason[] = []
    const part = vrrp.get(node.id)
    if (part !== undefined && 'problem' in part) found.push(part.problem)
    const bgp =
      group.announcer === 'bgp' && group.bgp !== null
        ? planBgp({ ...input, bgp: group.bgp, groupId: group.id, node, heldBack: heldBack.has(node.id) })
        : null
    if (bgp !== null) {
      found.push(...bgp.problems)
      if (bgp.againAtMs !== null) againAtMs = Math.min(againAtMs ?? Number.POSITIVE_INFINITY, bgp.againAtMs)
    }
    const secondChance = chances.byNode.get(node.id)
    entries.set(node.id, {
      ...NO_PART,
      vrrp: part !== undefined && 'settings' in part ? part.settings : null,
      bgp: bgp?.settings ?? null,
      flows: part !== undefined && 'settings' in part ? planFlows(group, part.settings) : null,
      ...(secondChance === undefined ? {} : { secondChance }),
    })
    if (found.length > 0) problems.set(node.id, found)
  }
  return { entries, problems, againAtMs }
}

const NO_PART: GroupEntry = {
  kind: 'group',
  version: NODE_STATE_VERSION,
  key: GROUP_KEY,
  vrrp: null,
  bgp: null,
  flows: null,
}
