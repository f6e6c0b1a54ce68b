import type { Node } from '@spout/model'
import type { PlannedNode } from '@spout/plan'
import type { Liveness } from '../liveness/node-liveness.ts'

/**
 * A node that was not heard of since the start counts as connected, with features unknown: then what it owns is planned
 * to the same bytes again, and nothing new is given to it before it speaks.
 */
export const connectionOf = (
  { certificateSha256 }: Pick<Node, 'certificateSha256'>,
  liveness: Liveness,
): PlannedNode['connection'] => {
  if (certificateSha256 === null) return 'never'
  return liveness === 'new' ? 'connected' : liveness
}
