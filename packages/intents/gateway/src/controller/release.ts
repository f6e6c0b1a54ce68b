import { takeDown, uidOf, whenWithdrawn } from '@spout/connector'
import { done, type Outcome } from '@spout/runtime'
import type { ControllerContext } from './context.ts'

/** Deletes what a Gateway leaves behind, and releases it once the nodes confirm that they hold nothing of it. */
export function releaseGateway(context: ControllerContext, key: string): Promise<Outcome> {
  const { cluster, gateways, log } = context
  return takeDown({ ...context, objects: cluster, namespaces: null }, key, async () => {
    const gateway = cluster.gateway(key)
    const ownership = gateway === undefined ? 'foreign' : gateways.ownershipOf(gateway)
    if (gateway === undefined || (ownership !== 'deleting' && ownership !== 'released')) return done
    const tellOverdue = (nodes: readonly string[]) =>
      log.warn({ event: 'not-withdrawn', gateway: key, nodes }, 'released although nodes have not confirmed')
    return whenWithdrawn(context, { key, uid: uidOf(gateway) }, tellOverdue, () => cluster.release(gateway))
  })
}
