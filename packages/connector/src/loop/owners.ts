import { type OwnerKind, ownersOf } from '../content/owners.ts'
import { documentsOf, type KnownLoadBalancers, type LoadBalancerChange } from '../control-plane/known-load-balancers.ts'
import type { IndexedObject } from '../take-down/absence.ts'

/** The known objects of one kind and their load balancers. */
export interface OwnersContext {
  readonly known: KnownLoadBalancers
  readonly kind: OwnerKind
  readonly index: { get(key: string): IndexedObject | null }
  /** UIDs of objects that were shown and deleted, while a load balancer names them. */
  readonly departed: Set<string>
  readonly addUnit: (unit: string) => void
  readonly addLeaving: (key: string) => void
}

/** Queues the objects of changed load balancers: existing objects, and those that leave something behind. */
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
 * An object was shown before, and has gone, or was made again.
 * @param now the UID under its key; undefined when there is none
 */
export function noteDeparted(
  { known, departed }: Pick<OwnersContext, 'known' | 'departed'>,
  before: IndexedObject | null,
  now: string | undefined,
): void {
  if (before !== null && before.uid !== now && known.ofUid(before.uid).length > 0) departed.add(before.uid)
}
