/** The facts about an object that are kept after the watch shows it. */
export interface IndexedObject {
  readonly uid: string
  /** The unit that it is decided with; null when it is not ours. */
  readonly unit: string | null
}

/**
 * What is known of an object that has a load balancer.
 *
 * `living`: it wants its load balancer. `left`: it no longer does, or it was shown and deleted, or it is outside our
 * namespaces. `held`: it is missing, but the deletion guard holds it. `unseen`: it was never shown. Whoever created the
 * load balancer may have seen it before us, so its absence here proves nothing.
 */
export type Sight = 'living' | 'left' | 'held' | 'unseen'

export interface Surroundings {
  /** The object that is shown under its key. */
  readonly indexed: IndexedObject | null
  readonly isHeld: boolean
  /** UIDs of objects that were shown and deleted. */
  readonly departed: ReadonlySet<string>
  /** Namespaces that are watched; null for all. */
  readonly namespaces: readonly string[] | null
}

/** @param key `namespace/name` */
export function sightOf(uid: string, key: string, { indexed, isHeld, departed, namespaces }: Surroundings): Sight {
  if (indexed?.uid === uid) return indexed.unit === null ? 'left' : 'living'
  if (isHeld) return 'held'
  const isLookedAt = namespaces?.includes(key.split('/', 1)[0] ?? '') ?? true
  return departed.has(uid) || !isLookedAt ? 'left' : 'unseen'
}
