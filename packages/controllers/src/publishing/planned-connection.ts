import type { Node } from '@spout/model'
import type { PlannedNode } from '@spout/plan'
import type { Liveness } from '../liveness/node-liveness.ts'

/**
 * A node's connection, as plans read it. A node that has not reported since the start counts as connected, with unknown
 * features. So the plans of its load balancers yield the same bytes again, and it gets no others before it reports.
 */
export const connectionOf = (
  { certificateSha256 }: Pick<Node, 'certificateSha256'>,
  liveness: Liveness,
): PlannedNode['connection'] => {
  if (certificateSha256 === null) return 'never'
  return liveness === 'new' ? 'connected' : liveness
}
