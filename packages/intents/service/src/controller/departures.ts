import type { Service } from '@spout/kube'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { FINALIZER, MANAGED_BY } from '../names.ts'
import { RELEASED } from '../write-back/events.ts'
import { NO_STATUS } from '../write-back/status.ts'
import { type ControllerContext, livingUnits, SHORTLY_MS } from './context.ts'
import { servicesOf } from './known-load-balancers.ts'

const HELD_RETRY_MS = 5000
/** Our watch of Services may be behind the one of who made a load balancer this young. */
const YOUNG_MS = 10_000
const YOUNG_RETRY_MS = 1000

/** Takes down what a Service leaves behind, and lets it go once the control plane says that it is gone. */
export async function leave(context: ControllerContext, key: string): Promise<Outcome> {
  const { cluster, service: spout, index, known, busy, working, clock } = context
  if (cluster.isHeld(key)) return retryAfter(HELD_RETRY_MS)
  // What is being made for it would be left behind.
  if (working.has(key)) return retryAfter(SHORTLY_MS)
  const service = cluster.service(key)
  const { ownership = 'foreign', uid = null } = index.get(key) ?? {}
  const isOurs = ownership === 'ours'
  for (const { document } of known.ofKey(key)) {
    const left = [...servicesOf(document)].some(([one, name]) => name === key && !(isOurs && one === uid))
    if (!left) continue
    const units = livingUnits(index, document)
    if (units.length > 0) {
      // The others of a shared address say the document anew, without this one.
      for (const unit of units) context.addUnit(unit)
      return retryAfter(SHORTLY_MS)
    }
    if (busy.has(document.id)) return retryAfter(SHORTLY_MS)
    // A Service that goes is seen going, by its finalizer: one never seen may have just come.
    if (service === undefined && clock.now().getTime() - Date.parse(document.createdAt) < YOUNG_MS)
      return retryAfter(YOUNG_RETRY_MS)
    busy.set(document.id, key)
    try {
      await spout.delete(document.id)
    } finally {
      busy.delete(document.id)
    }
    known.forget(document.id)
  }
  if (service !== undefined && (ownership === 'deleting' || ownership === 'released'))
    await letGo(context, service, ownership)
  return done
}

async function letGo(
  { cluster, statuses }: ControllerContext,
  service: Service,
  ownership: 'deleting' | 'released',
): Promise<void> {
  const claimed = service.metadata.finalizers?.includes(FINALIZER) ?? false
  if (ownership === 'released') await statuses.set(service, NO_STATUS)
  if (!claimed && service.metadata.annotations?.[MANAGED_BY] === undefined) return
  // Said before the finalizer goes: of an object that is gone nobody can be told.
  cluster.tell(service, RELEASED)
  await cluster.release(service)
}
