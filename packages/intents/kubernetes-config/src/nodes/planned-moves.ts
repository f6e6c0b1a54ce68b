import { chosenGroup, type SelectingGroup } from './chosen-group.ts'
import type { NodeSelection } from './node-selections.ts'

/** A node group of the control plane. */
export interface Group {
  readonly id: string
  readonly name: string
}

/** A load-balancer node that is a node of the cluster. */
export interface GroupedNode {
  readonly id: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly nodeGroupId: string
  readonly isConnected: boolean
  /** Whether it is drained already in order to move. */
  readonly isLeaving: boolean
}

export interface MovePlan {
  /** By node id: the group that a node moves to next. It is drained until it can leave its own. */
  readonly targets: ReadonlyMap<string, Group>
  /** By name of each group with a selector. */
  readonly selections: ReadonlyMap<string, NodeSelection>
  /** Why nodes stay whose group does not exist, by node name. */
  readonly unknown: ReadonlyMap<string, string>
}

/**
 * Plans the moves of nodes between groups. Of each group one connected node leaves at a time, so that the others can
 * take its addresses over: if all of a group's nodes were drained together, none could.
 * @param selecting the groups with a selector
 * @param groups all groups of the control plane
 */
export function planMoves(
  nodes: readonly GroupedNode[],
  selecting: readonly SelectingGroup[],
  groups: readonly Group[],
): MovePlan {
  const lists = new Map(
    selecting.map(({ name }) => [name, { here: [] as string[], coming: [] as string[], refused: [] as string[] }]),
  )
  const unknown = new Map<string, string>()
  const wanted: { readonly node: GroupedNode; readonly target: Group }[] = []
  for (const node of nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const present = groups.find(({ id }) => id === node.nodeGroupId)?.name ?? ''
    const { group, selectedBy } = chosenGroup(node.labels, present, selecting)
    if (selectedBy.length > 1)
      for (const name of selectedBy)
        lists
          .get(name)
          ?.refused.push(`${node.name} is selected by ${selectedBy.join(' and ')}: it stays in ${present}.`)
    else if (group === present) lists.get(present)?.here.push(node.name)
    if (group === present) continue
    const target = groups.find(({ name }) => name === group)
    if (target === undefined)
      unknown.set(node.name, `It stays in node group ${present}: there is no node group ${group}.`)
    else {
      lists.get(group)?.coming.push(node.name)
      wanted.push({ node, target })
    }
  }
  return { targets: nextMoves(wanted), selections: lists, unknown }
}

function nextMoves(
  wanted: readonly { readonly node: GroupedNode; readonly target: Group }[],
): ReadonlyMap<string, Group> {
  const targets = new Map<string, Group>()
  const busy = new Set<string>()
  for (const { node, target } of wanted.filter(({ node: { isLeaving } }) => isLeaving)) {
    targets.set(node.id, target)
    if (node.isConnected) busy.add(node.nodeGroupId)
  }
  for (const { node, target } of wanted) {
    if (node.isLeaving || !node.isConnected || busy.has(node.nodeGroupId)) continue
    targets.set(node.id, target)
    busy.add(node.nodeGroupId)
  }
  return targets
}
