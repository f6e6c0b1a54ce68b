import type { Announce } from '@spout/model/node-state'

/** One address to be answered for on a segment. */
export interface Announcement {
  readonly address: string
  /** `fabric`: on the node's fabric interface. `tenant`: inside the domain, on its segment interface. */
  readonly scope: 'fabric' | 'tenant'
  readonly domain: number
  /** How; an announcer is given those of its own `via` alone. */
  readonly by: Announce
  /**
   * Another node of the group announced it until now, and may still: it is taken without being looked for on the wire.
   * Says nothing about which announcement this is.
   */
  readonly takeover?: true
}

export interface AnnouncementOutcome {
  readonly announcement: Announcement
  /** Why it is not announced; null when it is. */
  readonly error: string | null
}

export interface AnnouncementDifference {
  readonly come: readonly Announcement[]
  readonly go: readonly Announcement[]
}

/**
 * Tells the network where an address lives. Given the whole wanted set each time; does the difference.
 * The agent calls it with an address only after the data plane confirmed, and without it before removal.
 */
export interface Announcer {
  /** The `by.via` of its announcements. */
  readonly name: string
  /** An announcement that names a shard is its own only while this node is the shard's master. Default false. */
  readonly followsShards?: boolean
  /** Takes over addresses that an earlier process left. */
  adopt(previous: readonly Announcement[]): Promise<void>
  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<readonly AnnouncementOutcome[]>
  /**
   * The same as `apply` of the whole set, told by its difference to the last one, so that it costs what changed.
   * Optional: who has none is always given the whole set. Resolves with the outcomes of `come`.
   */
  change?(difference: AnnouncementDifference, signal: AbortSignal): Promise<readonly AnnouncementOutcome[]>
  /** What is announced now. The very same array as before says that nothing changed: nobody looks through it then. */
  observe(): Promise<readonly Announcement[]>
  close(): Promise<void>
}
