import type { Announce } from '@spout/model/node-state'
import type { GroupFollower } from './group-follower.ts'

/** An address that this node announces on a segment. */
export interface Announcement {
  readonly address: string
  /** `fabric`: on the node's fabric interface. `tenant`: inside the domain, on its segment interface. */
  readonly scope: 'fabric' | 'tenant'
  readonly domain: number
  /** How it is announced. An announcer gets only announcements of its own `via`. */
  readonly by: Announce
  /**
   * Another node of the group announced it until now and may still do so. The announcer takes it over without duplicate
   * detection. Not part of the announcement's identity.
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
 * Tells the network which addresses this node owns. It is given the whole wanted set and applies the difference.
 * The agent adds an address after the data plane confirmed it, and withdraws it before the data plane removes it. An
 * announcer that is configured by the node's group has `follow`; one with a state to report has `report` and `onReport`.
 */
export interface Announcer extends Partial<Omit<GroupFollower, 'close'>> {
  /** The `by.via` of its announcements. */
  readonly name: string
  /** If true, announcements that name a shard are made only while this node is the shard's master. Default false. */
  readonly followsShards?: boolean
  /** Takes over the addresses that an earlier process announced. */
  adopt(previous: readonly Announcement[]): Promise<void>
  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<readonly AnnouncementOutcome[]>
  /**
   * Applies a difference to the last set, at a cost in proportion to the difference. Optional; without it the agent calls
   * `apply` with the whole set. Resolves with the outcomes of `come`.
   */
  change?(difference: AnnouncementDifference, signal: AbortSignal): Promise<readonly AnnouncementOutcome[]>
  /** What is announced now. Returns the same array object when nothing changed, which saves the caller a comparison. */
  observe(): Promise<readonly Announcement[]>
  /** Whether clients' new connections may reach this node by it. Default: while it announces anything. */
  attracts?(): boolean
  /** Whether the node has released what the group's settings told it to release; null (the default) if they say nothing. */
  hasReleased?(): boolean | null
  /** Sets whether the node can carry traffic. While it cannot, the announcer releases addresses that other nodes can take. */
  setHealthy?(healthy: boolean, reason: string): void
  /**
   * Gives up what other nodes can take, before its daemons end with the agent. Resolves once they have had time to take
   * it. Default: nothing.
   * @throws Error naming what was not given up
   */
  handOverAll?(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}
