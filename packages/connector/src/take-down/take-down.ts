import type { LoadBalancer } from '@spout/model'
import { type OwnerKind, ownersOf } from '../content/owners.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService } from '../control-plane/load-balancer-service.ts'
import { type IndexedObject, type Sight, sightOf } from './absence.ts'

/** Another unit is about to change the load balancer. */
export const SHORTLY_MS = 20
/** The watch has not shown yet what the API server says exists. */
const UNSEEN_RETRY_MS = 1000

/** What deletion needs. */
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
  /** The unit that is changing a load balancer now, by load balancer id. */
  readonly busy: Map<string, string>
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
 * @returns null when nothing of the object is left in the control plane; else when to look again, in ms
 */
export async function takeDown(context: TakeDownContext, key: string): Promise<number | null> {
  const { service, index, known, kind, busy, withdrawing } = context
  for (const { document } of known.ofKey(key)) {
    const isLeft = sightsOf(context, document).some(({ key: name, sight }) => name === key && sight !== 'living')
    if (!isLeft) continue
    const units = livingUnits(index, document, kind)
    if (units.length > 0) {
      // The others of a shared address write the document without this one.
      for (const unit of units) context.addUnit(unit)
      return SHORTLY_MS
    }
    if (busy.has(document.id)) return SHORTLY_MS
    busy.set(document.id, key)
    try {
      if (!(await isAbandoned(context, document))) return UNSEEN_RETRY_MS
      await service.delete(document.id)
    } finally {
      busy.delete(document.id)
    }
    known.forget(document.id)
    withdrawing.set(key, (withdrawing.get(key) ?? new Set()).add(document.id))
  }
  return null
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
  // Objects that the watch showed meanwhile count.
  return !stays() && known.get(document.id)?.document.generation === document.generation
}
