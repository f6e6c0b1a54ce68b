import { GROUP_LABEL } from '@spout/custom-resources'
import { type LabelSelector, selects } from '@spout/kube'
import { DEFAULT_GROUP_NAME } from '@spout/model'

/** A node group with a selector of nodes. */
export interface SelectingGroup {
  readonly name: string
  readonly nodeSelector: LabelSelector
}

export interface GroupChoice {
  /** The name of the group in which the node belongs. */
  readonly group: string
  /** Names of the groups whose selectors select the node, sorted. With more than one the node stays where it is. */
  readonly selectedBy: readonly string[]
}

/**
 * The group in which a node belongs. Its label names the group, or else the one group that selects it. If none does, it
 * leaves a group with a selector for the default group, and stays in one without: somebody put it there. If several do,
 * it stays where it is, because no choice among them would be the obvious one.
 * @param present the name of the group that the node is in
 */
export function chosenGroup(
  labels: Readonly<Record<string, string>>,
  present: string,
  groups: readonly SelectingGroup[],
): GroupChoice {
  const named = Object.hasOwn(labels, GROUP_LABEL) ? labels[GROUP_LABEL] : undefined
  if (named !== undefined) return { group: named, selectedBy: [] }
  const selecting = groups.filter(({ nodeSelector }) => selects(nodeSelector, labels))
  const selectedBy = selecting.map(({ name }) => name).sort()
  const [only] = selectedBy
  if (only === undefined)
    return { group: groups.some(({ name }) => name === present) ? DEFAULT_GROUP_NAME : present, selectedBy }
  return { group: selectedBy.length === 1 ? only : present, selectedBy }
}
