import type { IndexedService } from './service-index.ts'

/**
 * How much is known of a Service that a load balancer is for.
 *
 * `living`: it wants its load balancer. `left`: it does not any more, or it was shown and went, or it is not ours to look
 * at. `held`: it is missing, and not believed to be deleted. `unseen`: it was never shown. Whoever made the load balancer
 * may have seen it earlier than we do, so its absence here says nothing.
 */
export type Sight = 'living' | 'left' | 'held' | 'unseen'

export interface Surroundings {
  /** What is shown under its key. */
  readonly indexed: IndexedService | null
  readonly isHeld: boolean
  /** UIDs of Services that were shown and went. */
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
