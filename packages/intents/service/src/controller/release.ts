import { isWithdrawn, MANAGED_BY, SHORTLY_MS, takeDown, uidOf, WITHDRAWAL_WAIT_MS } from '@spout/connector'
import type { Service } from '@spout/kube'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { FINALIZER } from '../names.ts'
import { notWithdrawn, RELEASED } from '../write-back/events.ts'
import { NO_STATUS } from '../write-back/status.ts'
import type { ControllerContext } from './context.ts'

const HELD_RETRY_MS = 5000

/** Deletes what a Service leaves behind, and releases it once the nodes confirm that they hold nothing of it. */
export async function release(context: ControllerContext, key: string): Promise<Outcome> {
  const { cluster, index, working, withdrawing, settings } = context
  if (cluster.isHeld(key)) return retryAfter(HELD_RETRY_MS)
  // A load balancer that is being created for it would be left behind.
  if (working.has(key)) return retryAfter(SHORTLY_MS)
  const service = cluster.service(key)
  const ownership = index.get(key)?.ownership
  const { namespaces } = settings
  const againMs = await takeDown({ ...context, kind: 'service', objects: cluster, namespaces }, key)
  if (againMs !== null) return retryAfter(againMs)
  if (service !== undefined && (ownership === 'deleting' || ownership === 'released')) {
    const tellOverdue = (nodes: readonly string[]) => cluster.tell(service, notWithdrawn(nodes))
    if (hasFinalizer(service) && !(await isWithdrawn(context, key, uidOf(service), tellOverdue)))
      return retryAfter(WITHDRAWAL_WAIT_MS)
    await letGo(context, service, ownership)
  }
  withdrawing.delete(key)
  return done
}

async function letGo(
  { cluster, statuses }: ControllerContext,
  service: Service,
  ownership: 'deleting' | 'released',
): Promise<void> {
  if (ownership === 'released') await statuses.set(service, NO_STATUS)
  if (!hasFinalizer(service) && service.metadata.annotations?.[MANAGED_BY] === undefined) return
  // Before the finalizer goes: a deleted object gets no events.
  cluster.tell(service, RELEASED)
  await cluster.release(service)
}

const hasFinalizer = ({ metadata }: Service): boolean => metadata.finalizers?.includes(FINALIZER) ?? false
