import { isWithdrawn, takeDown, uidOf, WITHDRAWAL_WAIT_MS } from '@spout/connector'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import type { ControllerContext } from './context.ts'

const HELD_RETRY_MS = 5000

/** Deletes what a Gateway leaves behind, and releases it once the nodes confirm that they hold nothing of it. */
export async function releaseGateway(context: ControllerContext, key: string): Promise<Outcome> {
  const { cluster, gateways, withdrawing, log } = context
  if (cluster.isHeld(key)) return retryAfter(HELD_RETRY_MS)
  const againMs = await takeDown(
    {
      ...{ ...context, kind: 'gateway', namespaces: null },
      ...{ objects: cluster, index: gateways, addUnit: context.addGateway },
    },
    key,
  )
  if (againMs !== null) return retryAfter(againMs)
  const gateway = cluster.gateway(key)
  const ownership = gateway === undefined ? 'foreign' : gateways.ownershipOf(gateway)
  if (gateway !== undefined && (ownership === 'deleting' || ownership === 'released')) {
    const tellOverdue = (nodes: readonly string[]) =>
      log.warn({ event: 'not-withdrawn', gateway: key, nodes }, 'released although nodes have not confirmed')
    if (!(await isWithdrawn(context, key, uidOf(gateway), tellOverdue))) return retryAfter(WITHDRAWAL_WAIT_MS)
    await cluster.release(gateway)
  }
  withdrawing.delete(key)
  return done
}
