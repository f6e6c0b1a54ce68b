import type { LoadBalancer } from '@spout/model'
import { done, type Outcome, retryAfter } from '@spout/runtime'
import { type OwnerKind, ownersOf } from '../content/owners.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService } from '../control-plane/load-balancer-service.ts'
import { alone, type Busy } from '../loop/alone.ts'
import { SHORTLY_MS } from '../loop/retries.ts'
import { type IndexedObject, type Sight, sightOf } from './absence.ts'

/** Pause while the deletion guard holds the object. */
const HELD_RETRY_MS = 5000
/** Pause while an object may exist that the watch has not shown. */
const UNSEEN_RETRY_MS = 1000

/** What cleaning up after an object needs. */
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
  /** UIDs of objects that the watch showed and that are gone, kept while a load balancer names them. */
  readonly departed: ReadonlySet<string>
  readonly busy: Busy
  /** Ids of deleted load balancers that nodes may still hold, by the key of the object that waits for it. */
  readonly withdrawing: Map<string, Set<string>>
  readonly addUnit: (unit: string) => void
}

/** The units that still have an object on this load balancer. */
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
 * Cleans up after an object: deletes its load balancers, and removes the object from those that it shares with others.
 * @param letGo runs once nothing of the object is left in the control plane. If it asks for a retry, all of this runs
 * again
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
      // When the other objects of a shared load balancer are reconciled, they write the document without this one.
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

/**
 * Whether no object of a load balancer exists any more. The API server is asked about objects that our watch never
 * showed.
 */
async function isAbandoned(context: TakeDownContext, document: LoadBalancer): Promise<boolean> {
  const { objects, known } = context
  const stays = () => sightsOf(context, document).some(({ sight }) => sight === 'living' || sight === 'held')
  if (stays()) return false
  for (const { uid, key, sight } of sightsOf(context, document))
    if (sight === 'unseen' && !(await objects.isGone(key, uid))) return false
  // Checked again, because the watch may have shown more while the API server was asked.
  return !stays() && known.get(document.id)?.document.generation === document.generation
}
