import type { NodeGroup } from '@spout/model'
import type { Facts } from '../facts.ts'
import type { Finding } from '../finding.ts'

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
  const are = addresses === 1 ? 'address is' : 'addresses are'
  return {
    ...{ level: usable.length === 0 ? 'error' : 'warning', check: 'groups', subject: name },
    message:
      usable.length === 0
        ? `Its ${addresses} ${are} on no connected node.`
        : `Its ${addresses} ${are} on one node: if ${usable[0]!.name} fails, nobody takes over.`,
    fix: 'enrol a second node in this group: docs/operations.md, "A new node"',
  }
}
