import { Refused } from '@spout/client/native-api'
import type { Service } from '@spout/kube'
import { uidOf } from '../names.ts'
import type { LoadBalancerService } from '../spout/load-balancer-service.ts'
import { loadBalancerIds } from '../to-model/ids.ts'
import { notWithdrawn } from '../write-back/events.ts'
import type { ControllerContext } from './context.ts'

/** A look waits so long for nodes, and as long between two looks: others have something to do meanwhile. */
export const WITHDRAWAL_WAIT_MS = 500

/** Whether nothing that a Service left behind is on a node any more, or waiting for that makes no sense. */
export async function isWithdrawn(
  { service: spout, cluster, withdrawing }: Pick<ControllerContext, 'service' | 'cluster' | 'withdrawing'>,
  key: string,
  service: Service,
): Promise<boolean> {
  const ids = withdrawing.get(key) ?? (await foundedBy(spout, service))
  for (const id of ids) {
    const { withdrawn, overdue, waitingFor } = await spout.withdrawal(id, WITHDRAWAL_WAIT_MS)
    if (!withdrawn && !overdue) return false
    if (!withdrawn) cluster.tell(service, notWithdrawn(waitingFor))
  }
  return true
}

/**
 * Who was interrupted after it deleted the load balancer knows of it by the Service's UID: the first id that is not there.
 * What is there others have now, who share its address. None without a project.
 */
async function foundedBy(spout: LoadBalancerService, service: Service): Promise<readonly string[]> {
  try {
    for (const id of loadBalancerIds(await spout.projectId(), uidOf(service)))
      if ((await spout.get(id)) === null) return [id]
    return []
  } catch (error) {
    if (error instanceof Refused) return []
    throw error
  }
}
