import type { GroupEntry } from '@spout/model/node-state'
import { type Clock, Listeners, systemClock, type Timer } from '@spout/runtime'
import type { GroupFollower } from '../contracts/group-follower.ts'
import type { ShardOwnership } from './announcer-registry.ts'

export interface KeptShardsOptions {
  readonly ownership: ShardOwnership
  readonly clock?: Clock
}

/** Within this time routers learn the routes of the new owner, which then replace those of this node. */
const KEPT_MS = 2000

/**
 * The shards that this node owns, and those that it gave up on request less than two seconds ago. Announcements that
 * follow such a shard stay for that time. So routers always have a route, whether they hear the old owner's withdrawal
 * or the new owner's announcement first. This node still serves the packets that routers send it, and those of its
 * connections that the new owner forwards (second chance). A shard that was lost in any other way is not kept.
 */
export class KeptShards implements ShardOwnership, GroupFollower {
  readonly #ownership: ShardOwnership
  readonly #clock: Clock
  readonly #kept = new Map<number, Timer>()
  readonly #listeners = new Listeners()
  readonly #unfollow: () => void
  #vrrp: GroupEntry['vrrp'] = null
  #owned: ReadonlySet<number> = new Set()

  constructor({ ownership, clock = systemClock }: KeptShardsOptions) {
    this.#ownership = ownership
    this.#clock = clock
    this.#unfollow = ownership.onChange(() => {
      this.#look()
      this.#tell()
    })
  }

  /** Reads from the settings which shards the node is about to give up. */
  async follow(entry: Pick<GroupEntry, 'vrrp'> | null): Promise<void> {
    this.#look()
    this.#vrrp = entry?.vrrp ?? null
  }

  mastered(): ReadonlySet<number> {
    this.#look()
    return this.#kept.size === 0 ? this.#owned : this.#owned.union(new Set(this.#kept.keys()))
  }

  hasReleased(shard: number): boolean {
    this.#look()
    return !this.#kept.has(shard) && this.#ownership.hasReleased(shard)
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  /** Stops the timers. What is announced stays announced for the next agent. */
  async close(): Promise<void> {
    this.#unfollow()
    for (const timer of this.#kept.values()) timer.clear()
    this.#kept.clear()
  }

  #look(): void {
    const now = this.#ownership.mastered()
    for (const shard of this.#owned) if (!now.has(shard) && this.#isGivenUp(shard)) this.#keep(shard)
    for (const shard of now) this.#forget(shard)
    this.#owned = now
  }

  #isGivenUp(shard: number): boolean {
    return (
      this.#vrrp !== null &&
      (this.#vrrp.yield || this.#vrrp.shards.some(({ number, handOver }) => number === shard && handOver !== undefined))
    )
  }

  #keep(shard: number): void {
    this.#forget(shard)
    const expire = () => {
      this.#kept.delete(shard)
      this.#tell()
    }
    this.#kept.set(shard, this.#clock.setTimer(expire, KEPT_MS))
  }

  #forget(shard: number): void {
    this.#kept.get(shard)?.clear()
    this.#kept.delete(shard)
  }

  #tell(): void {
    this.#listeners.tell()
  }
}
