import type { Node } from '@spout/model'
import type { z } from 'zod'
import type { nodeChange } from '../contract/node-admission.ts'

const STRENGTH: Readonly<Record<Node['scheduling'], number>> = { enabled: 0, cordoned: 1, draining: 2 }

/**
 * The node after a change. Of what an administrator and the node's cluster ask for, the stronger counts. Both are kept, so
 * the end of one wish does not end the other.
 */
export function changedNode(
  { clusterScheduling: present, ...before }: Node,
  { scheduling: asked, clusterScheduling: wished, ...others }: z.output<typeof nodeChange>,
): Node {
  const own = asked ?? present?.own ?? before.scheduling
  const wish = wished === undefined ? present : wished
  const changed = { ...before, ...others }
  if (wish == null) return { ...changed, scheduling: own }
  const { scheduling, reason } = wish
  const stronger = STRENGTH[scheduling] > STRENGTH[own] ? scheduling : own
  return { ...changed, scheduling: stronger, clusterScheduling: { scheduling, reason, own } }
}
