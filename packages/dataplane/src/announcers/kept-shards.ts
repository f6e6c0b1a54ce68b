import type { GroupEntry } from '@spout/model/node-state'
import { type Clock, Listeners, systemClock, type Timer } from '@spout/runtime'
import type { GroupFollower } from '../contracts/group-follower.ts'
import type { ShardOwnership } from './announcer-registry.ts'

export interface KeptShardsOptions {
  readonly ownership: ShardOwnership
  readonly clock?: Clock
}

/** How long routers have to learn of the new owner: what they have by then replaces this node's routes. */
const KEPT_MS = 2000

/**
 * The shards that this node owns, and for two seconds longer those that it gave up as it was told to. What follows such a
 * shard stays announced meanwhile, so no router is without a route, whichever node it hears first. The node still serves
 * it: packets of connections go on by a second chance. A shard that was lost in any other way is not kept.
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

  /** Reads which shards the node is about to give up. */
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

  /** Keeps nothing any longer; what is announced stays until the next agent. */
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
