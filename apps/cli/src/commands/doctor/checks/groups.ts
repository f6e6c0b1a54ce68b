import type { NodeGroup } from '@spout/model'
import type { Finding } from '@spout/runtime/findings'
import type { Facts } from '../facts.ts'

/** Groups whose addresses have no second node to move to. */
export const checkGroups = (facts: Facts): readonly Finding[] =>
  facts.groups.flatMap((group) => {
    const finding = spareOf(group, facts)
    return finding === null ? [] : [finding]
  })

function spareOf({ id, name }: NodeGroup, { nodes, vips }: Facts): Finding | null {
  const addresses = vips.filter(({ nodeGroup }) => nodeGroup === name).length
  const usable = nodes.filter(
    (node) => node.nodeGroupId === id && node.scheduling !== 'draining' && node.status.connection === 'connected',
  )
  if (addresses === 0 || usable.length > 1) return null
  const [only] = usable
  const count = addresses === 1 ? '1 address' : `${addresses} addresses`
  return {
    ...{ level: only === undefined ? 'error' : 'warning', check: 'groups', subject: name },
    message:
      only === undefined
        ? `It has no connected node for its ${count}.`
        : `It has one connected node for its ${count}: if ${only.name} fails, nobody takes over.`,
    fix: 'bring its other nodes back, or enrol one: docs/operations.md, "A new node"',
  }
}
