import type { LoadBalancer } from '@spout/model'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { type OwnerKind, ownersOf } from '../content/owners.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService } from '../control-plane/load-balancer-service.ts'
import { alone, type Busy } from '../loop/alone.ts'
import { SHORTLY_MS } from '../loop/retries.ts'
import { type IndexedObject, type Sight, sightOf } from './absence.ts'

/** The deletion guard still holds the object. */
const HELD_RETRY_MS = 5000
/** The watch has not shown yet what the API server says exists. */
const UNSEEN_RETRY_MS = 1000

/** What is needed to delete what an object leaves behind. */
export interface TakeDownContext {
  readonly service: LoadBalancerService
  readonly known: KnownLoadBalancers
  readonly kind: OwnerKind
  /** The objects of that kind. */
  readonly objects: {
    /** Whether the object is missing and the deletion guard holds it. */
    isHeld(key: string): boolean
    /** @throws Error when the API server cannot be asked now */
    isGone(key: string, uid: string): Promise<boolean>
  }
  readonly index: { get(key: string): IndexedObject | null }
  /** Namespaces that are watched; null for all. */
  readonly namespaces: readonly string[] | null
  /** UIDs of objects that were shown and deleted, while a load balancer names them. */
  readonly departed: ReadonlySet<string>
  readonly busy: Busy
  /** Ids of deleted load balancers that nodes may still hold, by the key of the object that waits for it. */
  readonly withdrawing: Map<string, Set<string>>
  readonly addUnit: (unit: string) => void
}

/** Units that have a living object on this load balancer. */
export function livingUnits(
  index: TakeDownContext['index'],
  document: LoadBalancer,
  kind: OwnerKind,
): readonly string[] {
  const units = [...ownersOf(document, kind)].flatMap(([uid, key]) => {
    const one = index.get(key)
    return one?.uid === uid && one.unit !== null ? [one.unit] : []
  })
  return [...new Set(units)]
}

/**
 * Deletes the load balancers of this object alone, and removes it from those that it shares with others.
 * @param letGo done for the object once nothing of it is left in the control plane; when it is to be tried again, so is
 * all of this
 */
export async function takeDown(
  context: TakeDownContext,
  key: string,
  letGo: () => Promise<Outcome> = async () => done,
): Promise<Outcome> {
  if (context.objects.isHeld(key)) return retryAfter(HELD_RETRY_MS)
  const deleted = await deleteOwn(context, key)
  if (deleted.type !== 'done') return deleted
  const outcome = await letGo()
  if (outcome.type === 'done') context.withdrawing.delete(key)
  return outcome
}

async function deleteOwn(context: TakeDownContext, key: string): Promise<Outcome> {
  const { service, index, known, kind, busy, withdrawing } = context
  for (const { document } of known.ofKey(key)) {
    const isLeft = sightsOf(context, document).some(({ key: name, sight }) => name === key && sight !== 'living')
    if (!isLeft) continue
    const units = livingUnits(index, document, kind)
    if (units.length > 0) {
      // The other objects of a shared address write the document without this one.
      for (const unit of units) context.addUnit(unit)
      return retryAfter(SHORTLY_MS)
    }
    const outcome = await alone(busy, [document.id], `what ${key} leaves`, async () => {
      if (!(await isAbandoned(context, document))) return retryAfter(UNSEEN_RETRY_MS)
      await service.delete(document.id)
      return done
    })
    if (outcome.type !== 'done') return outcome
    known.forget(document.id)
    withdrawing.set(key, (withdrawing.get(key) ?? new Set()).add(document.id))
  }
  return done
}

interface SeenObject {
  readonly uid: string
  readonly key: string
  readonly sight: Sight
}

const sightsOf = (context: TakeDownContext, document: LoadBalancer): readonly SeenObject[] => {
  const { objects, index, departed, namespaces, kind } = context
  return [...ownersOf(document, kind)].map(([uid, key]) => {
    const surroundings = { indexed: index.get(key), isHeld: objects.isHeld(key), departed, namespaces }
    return { uid, key, sight: sightOf(uid, key, surroundings) }
  })
}

/** Whether none of its objects exists. For objects that our watch never showed, the API server is asked. */
async function isAbandoned(context: TakeDownContext, document: LoadBalancer): Promise<boolean> {
  const { objects, known } = context
  const stays = () => sightsOf(context, document).some(({ sight }) => sight === 'living' || sight === 'held')
  if (stays()) return false
  for (const { uid, key, sight } of sightsOf(context, document))
    if (sight === 'unseen' && !(await objects.isGone(key, uid))) return false
  // Objects that the watch has shown meanwhile count, too.
  return !stays() && known.get(document.id)?.document.generation === document.generation
}
