import { type GroupEntry, NO_GROUP_PART } from '@spout/model'
import type { GroupPlanInput } from '../announcers/group-plan-input.ts'
import { announcerParts } from '../announcers/registry.ts'
import type { Reason } from '../reason.ts'
import { planFlows } from './plan-flows.ts'
import { planSecondChance } from './plan-second-chance.ts'

export interface GroupPlan {
  /** By node id. If the planner chooses which node announces, an entry has only a second chance and a watch, if any. */
  readonly entries: ReadonlyMap<string, GroupEntry>
  /** Problems that keep a node from announcing as its group requires, by node id. */
  readonly problems: ReadonlyMap<string, readonly Reason[]>
  /** When time alone changes the plan next, in milliseconds since 1970. Null: it does not. */
  readonly againAtMs: number | null
}

/** Plans each node's part in its group. Pure. */
export function planGroup(input: GroupPlanInput): GroupPlan {
  const { group, watches } = input
  // The others must not wait for one that cannot take part.
  const nodes = input.nodes.filter(({ lacksFabric }) => lacksFabric !== true)
  const entries = new Map<string, GroupEntry>()
  const problems = new Map<string, readonly Reason[]>()
  const chances = planSecondChance(group, nodes, input.nowMs, input.heldBack)
  const announcers = announcerParts({ ...input, nodes })
  const fabric = group.fabric && { fabric: group.fabric }
  const times = [chances.againAtMs]
  for (const { id } of input.nodes.filter((node) => !nodes.includes(node))) {
    entries.set(id, { ...NO_GROUP_PART, ...fabric })
    problems.set(id, [lacksFabricOf(group)])
  }
  for (const { id } of nodes) {
    const parts = announcers.flatMap((byNode) => byNode.get(id) ?? [])
    const secondChance = chances.byNode.get(id)
    const watch = watches?.get(id)
    const isEmpty = parts.length === 0 && secondChance === undefined && watch === undefined
    if (isEmpty && fabric === undefined) continue
    let announcing = NO_GROUP_PART
    for (const { fields } of parts) announcing = { ...announcing, ...fields }
    entries.set(id, {
      ...announcing,
      flows: announcing.vrrp === null ? null : planFlows(group, announcing.vrrp),
      ...(secondChance === undefined ? {} : { secondChance }),
      ...(watch === undefined ? {} : { watch }),
      ...fabric,
    })
    const found = parts.flatMap((part) => part.problems)
    if (found.length > 0) problems.set(id, found)
    times.push(...parts.map(({ againAtMs }) => againAtMs))
  }
  const known = times.filter((time) => time !== null)
  return { entries, problems, againAtMs: known.length === 0 ? null : Math.min(...known) }
}

function lacksFabricOf({ name, fabric }: GroupPlanInput['group']): Reason {
  const named = fabric?.interface ?? `in the network of ${fabric?.reaches}`
  return {
    code: 'FabricMissing',
    message: `It has not taken the fabric interface of group \`${name}\`, ${named}: it carries nothing.`,
  }
}
