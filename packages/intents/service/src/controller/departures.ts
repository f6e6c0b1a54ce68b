import { isWithdrawn, MANAGED_BY, type Sight, sightOf, uidOf, WITHDRAWAL_WAIT_MS } from '@spout/connector'
import type { Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { FINALIZER } from '../names.ts'
import { servicesOf } from '../to-model/services-of.ts'
import { notWithdrawn, RELEASED } from '../write-back/events.ts'
import { NO_STATUS } from '../write-back/status.ts'
import { type ControllerContext, livingUnits, SHORTLY_MS } from './context.ts'

const HELD_RETRY_MS = 5000
/** The watch has yet to show what the API server says is there. */
const UNSEEN_RETRY_MS = 1000

/** Takes down what a Service leaves behind, and lets it go once the nodes have confirmed that they hold nothing of it. */
export async function leave(context: ControllerContext, key: string): Promise<Outcome> {
  const { cluster, service: spout, index, known, busy, working, withdrawing } = context
  if (cluster.isHeld(key)) return retryAfter(HELD_RETRY_MS)
  // What is being made for it would be left behind.
  if (working.has(key)) return retryAfter(SHORTLY_MS)
  const service = cluster.service(key)
  const ownership = index.get(key)?.ownership
  for (const { document } of known.ofKey(key)) {
    const isLeft = sightsOf(context, document).some(({ key: name, sight }) => name === key && sight !== 'living')
    if (!isLeft) continue
    const units = livingUnits(index, document)
    if (units.length > 0) {
      // The others of a shared address say the document anew, without this one.
      for (const unit of units) context.addUnit(unit)
      return retryAfter(SHORTLY_MS)
    }
    if (busy.has(document.id)) return retryAfter(SHORTLY_MS)
    busy.set(document.id, key)
    try {
      if (!(await isAbandoned(context, document))) return retryAfter(UNSEEN_RETRY_MS)
      await spout.delete(document.id)
    } finally {
      busy.delete(document.id)
    }
    known.forget(document.id)
    withdrawing.set(key, (withdrawing.get(key) ?? new Set()).add(document.id))
  }
  if (service !== undefined && (ownership === 'deleting' || ownership === 'released')) {
    if (
      isClaimed(service) &&
      !(await isWithdrawn(context, key, uidOf(service), (nodes) => cluster.tell(service, notWithdrawn(nodes))))
    )
      return retryAfter(WITHDRAWAL_WAIT_MS)
    await letGo(context, service, ownership)
  }
  withdrawing.delete(key)
  return done
}

interface SeenService {
  readonly uid: string
  readonly key: string
  readonly sight: Sight
}

const sightsOf = (context: ControllerContext, document: LoadBalancer): readonly SeenService[] => {
  const { cluster, index, departed, settings } = context
  const { namespaces } = settings
  return [...servicesOf(document)].map(([uid, key]) => {
    const surroundings = { indexed: index.get(key), isHeld: cluster.isHeld(key), departed, namespaces }
    return { uid, key, sight: sightOf(uid, key, surroundings) }
  })
}

/** Whether none of its Services is there. Of those that our watch never showed the API server is asked. */
async function isAbandoned(context: ControllerContext, document: LoadBalancer): Promise<boolean> {
  const { cluster, known } = context
  const stays = () => sightsOf(context, document).some(({ sight }) => sight === 'living' || sight === 'held')
  if (stays()) return false
  for (const { uid, key, sight } of sightsOf(context, document))
    if (sight === 'unseen' && !(await cluster.isGone(key, uid))) return false
  // What was shown while we asked counts.
  return !stays() && known.get(document.id)?.document.generation === document.generation
}

async function letGo(
  { cluster, statuses }: ControllerContext,
  service: Service,
  ownership: 'deleting' | 'released',
): Promise<void> {
  if (ownership === 'released') await statuses.set(service, NO_STATUS)
  if (!isClaimed(service) && service.metadata.annotations?.[MANAGED_BY] === undefined) return
  // Said before the finalizer goes: of an object that is gone nobody can be told.
  cluster.tell(service, RELEASED)
  await cluster.release(service)
}

const isClaimed = ({ metadata }: Service): boolean => metadata.finalizers?.includes(FINALIZER) ?? false
