/** What is remembered of an object that is shown. */
export interface IndexedObject {
  readonly uid: string
  /** What it is decided on with; null when it is not ours. */
  readonly unit: string | null
}

/**
 * How much is known of an object that a load balancer is for.
 *
 * `living`: it wants its load balancer. `left`: it does not any more, or it was shown and went, or it is not ours to look
 * at. `held`: it is missing, and not believed to be deleted. `unseen`: it was never shown. Whoever made the load balancer
 * may have seen it earlier than we do, so its absence here says nothing.
 */
export type Sight = 'living' | 'left' | 'held' | 'unseen'

export interface Surroundings {
  /** What is shown under its key. */
  readonly indexed: IndexedObject | null
  readonly isHeld: boolean
  /** UIDs of objects that were shown and went. */
  readonly departed: ReadonlySet<string>
  /** Namespaces that are looked at; null for all. */
  readonly namespaces: readonly string[] | null
}

/** @param key `namespace/name` */
export function sightOf(uid: string, key: string, { indexed, isHeld, departed, namespaces }: Surroundings): Sight {
  if (indexed?.uid === uid) return indexed.unit === null ? 'left' : 'living'
  if (isHeld) return 'held'
  const isLookedAt = namespaces?.includes(key.split('/', 1)[0] ?? '') ?? true
  return departed.has(uid) || !isLookedAt ? 'left' : 'unseen'
}
