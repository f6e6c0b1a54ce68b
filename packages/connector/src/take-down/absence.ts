/** What is kept of an object that the watch has shown. */
export interface IndexedObject {
  readonly uid: string
  /** The unit that it belongs to; null when it is not ours. */
  readonly unit: string | null
}

/**
 * What is known of an object that has a load balancer.
 *
 * `living`: it wants its load balancer. `left`: it no longer does, or it was shown and deleted, or it is outside of our
 * namespaces. `held`: it is missing, but the deletion guard holds it. `unseen`: our watch has never shown it. That does
 * not prove that it is gone: the process that created the load balancer may have seen more than we have so far.
 */
export type Sight = 'living' | 'left' | 'held' | 'unseen'

export interface Surroundings {
  /** The object that the watch shows under its key; null for none. */
  readonly indexed: IndexedObject | null
  readonly isHeld: boolean
  /** UIDs of objects that the watch showed and that are gone. */
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
