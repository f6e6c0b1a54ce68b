import {
  type BgpAdvertisementIntent,
  type BgpPeer,
  type GroupEntry,
  NODE_STATE_VERSION,
  type NodeGroup,
} from '@spout/model'
import type { Reason } from '../reason.ts'
import type { GroupNode } from './group-node.ts'
import { planBgp } from './plan-bgp.ts'
import { planFlows } from './plan-flows.ts'
import { planVrrp } from './plan-vrrp.ts'

export interface GroupPlanInput {
  readonly group: NodeGroup
  /** The nodes of the group that exist, silent ones too, in order of their ids. */
  readonly nodes: readonly GroupNode[]
  /** All BGP peers that are stored, templates too. */
  readonly peers: readonly BgpPeer[]
  readonly advertisements: readonly BgpAdvertisementIntent[]
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

export interface GroupPlan {
  /** By node id. Empty for a group that announces by `l2`: its nodes take part in nothing of their own. */
  readonly entries: ReadonlyMap<string, GroupEntry>
  /** What keeps a node from announcing as its group shall, by node id. */
  readonly problems: ReadonlyMap<string, readonly Reason[]>
  /** Milliseconds since 1970 when the plan changes by time alone; null when it does not. */
  readonly againAtMs: number | null
}

/** How each node of a group takes part in its announcements. Depends on its input alone. */
export function planGroup(input: GroupPlanInput): GroupPlan {
  const { group, nodes } = input
  const entries = new Map<string, GroupEntry>()
  const problems = new Map<string, readonly Reason[]>()
  let againAtMs: number | null = null
  if (group.announcer === 'l2') return { entries, problems, againAtMs }
  const vrrp = planVrrp(group, nodes)
  for (const node of nodes) {
    const found: Reason[] = []
    const part = vrrp.get(node.id)
    if (part !== undefined && 'problem' in part) found.push(part.problem)
    const bgp =
      group.announcer === 'bgp' && group.bgp !== null
        ? planBgp({ ...input, bgp: group.bgp, groupId: group.id, node })
        : null
    if (bgp !== null) {
      found.push(...bgp.problems)
      if (bgp.againAtMs !== null) againAtMs = Math.min(againAtMs ?? Number.POSITIVE_INFINITY, bgp.againAtMs)
    }
    entries.set(node.id, {
      kind: 'group',
      version: NODE_STATE_VERSION,
      key: 'group',
      vrrp: part !== undefined && 'settings' in part ? part.settings : null,
      bgp: bgp?.settings ?? null,
      flows: part !== undefined && 'settings' in part ? planFlows(group, part.settings) : null,
    })
    if (found.length > 0) problems.set(node.id, found)
  }
  return { entries, problems, againAtMs }
}
