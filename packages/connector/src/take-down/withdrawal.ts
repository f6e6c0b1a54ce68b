import { Refused } from '@spout/client/native-api'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { loadBalancerIds } from '../addresses/ids.ts'
import type { LoadBalancerService } from '../control-plane/load-balancer-service.ts'

/**
 * How long one call waits for the nodes, and the pause before the next. Short, because a worker has other work to do.
 */
const WITHDRAWAL_WAIT_MS = 500

export interface WithdrawalContext {
  readonly service: LoadBalancerService
  /** Ids of deleted load balancers that nodes may still hold, by the key of the object that waits for it. */
  readonly withdrawing: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Releases an object once no node holds anything of its load balancers.
 * @param onOverdue called with the names of nodes that have not confirmed in time
 */
export async function whenWithdrawn(
  context: WithdrawalContext,
  { key, uid }: { readonly key: string; readonly uid: string },
  onOverdue: (waitingFor: readonly string[]) => void,
  letGo: () => Promise<void>,
): Promise<Outcome> {
  if (!(await isWithdrawn(context, key, uid, onOverdue))) return retryAfter(WITHDRAWAL_WAIT_MS)
  await letGo()
  return done
}

/**
 * Whether no node holds anything of the object's load balancers any more, or the wait is overdue.
 * @param onOverdue called with the names of nodes that have not confirmed in time
 */
export async function isWithdrawn(
  { service, withdrawing }: WithdrawalContext,
  key: string,
  uid: string,
  onOverdue: (waitingFor: readonly string[]) => void,
): Promise<boolean> {
  const ids = withdrawing.get(key) ?? (await foundedBy(service, uid))
  for (const id of ids) {
    const { withdrawn, overdue, waitingFor } = await service.withdrawal(id, WITHDRAWAL_WAIT_MS)
    if (!withdrawn && !overdue) return false
    if (!withdrawn) onOverdue(waitingFor)
  }
  return true
}

/**
 * The id of the load balancer that the object founded and that an earlier process may have deleted: the first of its
 * ids that is free. Load balancers under its other ids belong to objects that shared its address. Empty without a
 * project.
 */
async function foundedBy(service: LoadBalancerService, uid: string): Promise<readonly string[]> {
  try {
    for (const id of loadBalancerIds(await service.projectId(), uid)) if ((await service.get(id)) === null) return [id]
    return []
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}
