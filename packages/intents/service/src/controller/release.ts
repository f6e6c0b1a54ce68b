import { MANAGED_BY, SHORTLY_MS, takeDown, uidOf, whenWithdrawn } from '@spout/connector'
import type { Service } from '@spout/kube'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { FINALIZER } from '../names.ts'
import { notWithdrawn, RELEASED } from '../write-back/events.ts'
import { NO_STATUS } from '../write-back/status.ts'
import type { ControllerContext } from './context.ts'

/**
 * Deletes the load balancer of a Service that is gone or no longer ours, and releases the Service once the nodes
 * confirm.
 */
export async function release(context: ControllerContext, key: string): Promise<Outcome> {
  const { cluster, index, working, settings } = context
  // A load balancer may be being created for the Service. Deleting now would miss it.
  if (working.has(key)) return retryAfter(SHORTLY_MS)
  const service = cluster.service(key)
  const ownership = index.get(key)?.ownership
  return takeDown({ ...context, objects: cluster, namespaces: settings.namespaces }, key, async () => {
    if (service === undefined || (ownership !== 'deleting' && ownership !== 'released')) return done
    const letItGo = () => letGo(context, service, ownership)
    const tellOverdue = (nodes: readonly string[]) => cluster.tell(service, notWithdrawn(nodes))
    if (hasFinalizer(service)) return whenWithdrawn(context, { key, uid: uidOf(service) }, tellOverdue, letItGo)
    await letItGo()
    return done
  })
}

async function letGo(
  { cluster, statuses }: ControllerContext,
  service: Service,
  ownership: 'deleting' | 'released',
): Promise<void> {
  if (ownership === 'released') await statuses.set(service, NO_STATUS)
  if (!hasFinalizer(service) && service.metadata.annotations?.[MANAGED_BY] === undefined) return
  // The event comes first: without the finalizer the object is gone, and no event can be recorded for it.
  cluster.tell(service, RELEASED)
  await cluster.release(service)
}

const hasFinalizer = ({ metadata }: Service): boolean => metadata.finalizers?.includes(FINALIZER) ?? false
