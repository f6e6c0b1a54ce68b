import { type OwnerKind, ownersOf } from '../content/owners.ts'
import { documentsOf, type KnownLoadBalancers, type LoadBalancerChange } from '../control-plane/known-load-balancers.ts'
import type { IndexedObject } from '../take-down/absence.ts'

/** What is known of the objects of one kind and of their load balancers. */
export interface OwnersContext {
  readonly known: KnownLoadBalancers
  readonly kind: OwnerKind
  readonly index: { get(key: string): IndexedObject | null }
  /** UIDs of objects that the watch showed and that are gone, kept while a load balancer names them. */
  readonly departed: Set<string>
  readonly addUnit: (unit: string) => void
  readonly addLeaving: (key: string) => void
}

/**
 * Queues the objects of a changed load balancer: existing ones to be reconciled, those that are gone to be cleaned up.
 */
export function queueOwners(context: OwnersContext, change: LoadBalancerChange): void {
  const { known, kind, index, departed, addUnit, addLeaving } = context
  const documents = change.type === 'listed' ? [...known.all()].map(({ document }) => document) : documentsOf(change)
  for (const document of documents)
    for (const [uid, key] of ownersOf(document, kind)) {
      const object = index.get(key)
      if (object?.uid === uid && object.unit !== null) addUnit(object.unit)
      else addLeaving(key)
      if (known.ofUid(uid).length === 0) departed.delete(uid)
    }
}

/**
 * Notes that an object has gone, or was created again, if a load balancer still names it.
 * @param before the object as it was last shown; null when it never was
 * @param now the UID that is under its key now; undefined when there is none
 */
export function noteDeparted(
  { known, departed }: Pick<OwnersContext, 'known' | 'departed'>,
  before: IndexedObject | null,
  now: string | undefined,
): void {
  if (before !== null && before.uid !== now && known.ofUid(before.uid).length > 0) departed.add(before.uid)
}
