import { shardOfAnnounce } from '@spout/model/announce'
import type { GroupEntry } from '@spout/model/node-state'
import { Mutex } from '@spout/runtime'
import type { Announcement, AnnouncementDifference, Announcer } from '../contracts/announcer.ts'
import type { GroupFollower, GroupReport } from '../contracts/group-follower.ts'
import { followAll, onReportOf, reportOf } from './followers.ts'

type Outcomes = Awaited<ReturnType<Announcer['apply']>>
type IsDue = (announcement: Announcement) => boolean

/** The shards that this node owns, according to the announcer that holds the elections. */
export interface ShardOwnership {
  /** Shards that this node masters. */
  mastered(): ReadonlySet<number>
  /** Whether another node is known to own the shard. False while its state is unknown: its addresses may be here. */
  hasReleased(shard: number): boolean
  /** @returns a function that unsubscribes */
  onChange(listener: () => void): () => void
}

/**
 * Combines the announcers of a node. Each gets the announcements whose `by.via` is its name. Announcements of a shard
 * that an announcer follows (`Announcer.followsShards`) are made only while this node is the shard's master.
 */
export class AnnouncerRegistry implements Announcer, GroupFollower {
  readonly name = 'node'
  readonly #announcers: readonly Announcer[]
  readonly #shards: ShardOwnership
  /** The last results of all announcers and the array made of them. The same results give the same array. */
  #observed: { readonly parts: readonly (readonly Announcement[])[]; readonly whole: readonly Announcement[] } | null =
    null
  /** The current announcements of each announcer, for those that need the whole set. */
  readonly #wanted = new Map<Announcer, Map<string, Announcement>>()
  /** Wanted announcements that follow a shard. */
  readonly #following = new Map<string, Announcement>()
  /** The keys that are announced now. */
  #followed: ReadonlySet<string> = new Set()
  readonly #mutex = new Mutex()
  readonly #unfollow: () => void

  /**
   * @param announcers in order: those that follow shards come after the one that elects, so that they see a new shard
   * at once
   */
  constructor(announcers: readonly Announcer[], shards: ShardOwnership) {
    this.#announcers = announcers
    this.#shards = shards
    this.#unfollow = shards.onChange(() => void this.#follow().catch(() => {}))
  }

  /** Withdraws announcements that follow a shard which this node lost while no agent ran. */
  adopt(previous: readonly Announcement[]): Promise<void> {
    return this.#mutex.run(async () => {
      this.#following.clear()
      for (const each of previous.filter((each) => this.#followsShard(each))) this.#following.set(keyOf(each), each)
      for (const announcer of this.#announcers) {
        const own = previous.filter(({ by }) => by.via === announcer.name)
        this.#wanted.set(announcer, new Map(own.map((each) => [keyOf(each), each])))
        await announcer.adopt(own)
      }
      const isDue = this.#isDue()
      const go = [...this.#following.values()].filter((each) => !isDue(each))
      await this.#changeFollowing({ come: [], go })
      this.#followed = this.#due(isDue)
    })
  }

  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<Outcomes> {
    return this.#mutex.run(async () => {
      const outcomes: Outcomes[] = []
      this.#following.clear()
      for (const each of wanted.filter((each) => this.#followsShard(each))) this.#following.set(keyOf(each), each)
      let isDue: IsDue = always
      for (const announcer of this.#announcers) {
        if (announcer.followsShards) isDue = this.#isDue()
        const own = wanted.filter((each) => each.by.via === announcer.name && isDue(each))
        this.#wanted.set(announcer, new Map(own.map((each) => [keyOf(each), each])))
        outcomes.push(await announcer.apply(own, signal))
      }
      this.#followed = this.#due(isDue)
      return [...outcomes.flat(), ...waiting(wanted, isDue)]
    })
  }

  change({ come, go }: AnnouncementDifference, signal: AbortSignal): Promise<Outcomes> {
    return this.#mutex.run(async () => {
      const outcomes: Outcomes[] = []
      for (const each of go.filter((each) => this.#followsShard(each))) this.#following.delete(keyOf(each))
      for (const each of come.filter((each) => this.#followsShard(each))) this.#following.set(keyOf(each), each)
      let isDue: IsDue = always
      for (const announcer of this.#announcers) {
        if (announcer.followsShards) isDue = this.#isDue()
        const own = {
          come: come.filter((each) => each.by.via === announcer.name && isDue(each)),
          go: go.filter(({ by }) => by.via === announcer.name),
        }
        if (own.come.length + own.go.length === 0) continue
        outcomes.push(await this.#changeOne(announcer, own, signal))
      }
      this.#followed = this.#due(isDue)
      return [...outcomes.flat(), ...waiting(come, isDue)]
    })
  }

  /** A shard came or went: announces or withdraws the addresses that follow it. */
  #follow(): Promise<void> {
    return this.#mutex.run(async () => {
      const due = this.#due(this.#isDue())
      const come = [...due.difference(this.#followed)].map((key) => this.#following.get(key)!)
      const go = [...this.#followed.difference(due)].flatMap((key) => this.#following.get(key) ?? [])
      if (come.length + go.length === 0) return
      await this.#changeFollowing({ come, go })
      this.#followed = due
    })
  }

  #due(isDue: IsDue): ReadonlySet<string> {
    return new Set([...this.#following].flatMap(([key, each]) => (isDue(each) ? [key] : [])))
  }

  /**
   * Returns which announcements are due with the current shards. An operation asks once, when it is the turn of an
   * announcer that follows shards. A later change of shards causes another operation.
   */
  #isDue(): IsDue {
    const mastered = this.#shards.mastered()
    return (each) => !this.#followsShard(each) || mastered.has(shardOf(each)!)
  }

  #followsShard(announcement: Announcement): boolean {
    return (
      shardOf(announcement) !== null &&
      this.#announcers.some(({ name, followsShards }) => followsShards === true && name === announcement.by.via)
    )
  }

  async #changeFollowing({ come, go }: AnnouncementDifference): Promise<void> {
    const { signal } = new AbortController()
    for (const announcer of this.#announcers) {
      const own = (each: Announcement) => each.by.via === announcer.name
      const difference = { come: come.filter(own), go: go.filter(own) }
      if (difference.come.length + difference.go.length > 0) await this.#changeOne(announcer, difference, signal)
    }
  }

  /** Leaves out outcomes of unchanged announcements, since `change` returns only those of `come`. */
  async #changeOne(announcer: Announcer, { come, go }: AnnouncementDifference, signal: AbortSignal): Promise<Outcomes> {
    const wanted = this.#wanted.get(announcer) ?? new Map<string, Announcement>()
    this.#wanted.set(announcer, wanted)
    for (const each of go) wanted.delete(keyOf(each))
    for (const each of come) wanted.set(keyOf(each), each)
    if (announcer.change !== undefined) return announcer.change({ come, go }, signal)
    const coming = new Set(come.map(keyOf))
    const outcomes = await announcer.apply([...wanted.values()], signal)
    return outcomes.filter(({ announcement }) => coming.has(keyOf(announcement)))
  }

  async observe(): Promise<readonly Announcement[]> {
    const present = await Promise.all(this.#announcers.map((announcer) => announcer.observe()))
    const isDue = this.#following.size === 0 ? always : this.#isDue()
    const away = [...this.#following.values()].filter((each) => !isDue(each))
    const parts = away.length === 0 ? present : [...present, away]
    const same =
      this.#observed?.parts.length === parts.length &&
      this.#observed.parts.every((part, index) => part === parts[index])
    if (!same) this.#observed = { parts, whole: parts.flat() }
    return this.#observed!.whole
  }

  /**
   * An announcer that refuses its settings keeps the old ones and stops no other. @throws AggregateError of the
   * refusals
   */
  follow(entry: GroupEntry | null, signal: AbortSignal): Promise<void> {
    return followAll(this.#announcers, entry, signal)
  }

  report(): Promise<GroupReport> {
    return reportOf(this.#announcers)
  }

  /** @returns a function that unsubscribes */
  onReport(listener: (report: GroupReport) => void): () => void {
    return onReportOf(this.#announcers, listener)
  }

  /** Sets whether the node can carry traffic. While it cannot, it owns no shard. */
  setHealthy(healthy: boolean, reason: string): void {
    for (const announcer of this.#announcers) announcer.setHealthy?.(healthy, reason)
  }

  /** Gives up what other nodes can take, before the daemons end with the agent. @throws Error as `Announcer.handOverAll` */
  async handOverAll(signal: AbortSignal): Promise<void> {
    for (const announcer of this.#announcers) await announcer.handOverAll?.(signal)
  }

  /** Whether no new connection of a client reaches this node. */
  async ownsNothing(): Promise<boolean> {
    for (const announcer of this.#announcers) {
      const attracts = announcer.attracts === undefined ? (await announcer.observe()).length > 0 : announcer.attracts()
      if (attracts) return false
    }
    return true
  }

  /** Whether the node has released everything that it was told to release. */
  async hasReleasedAll(): Promise<boolean> {
    for (const announcer of this.#announcers) {
      const said = announcer.hasReleased?.() ?? null
      if (said !== null) return said
    }
    return this.ownsNothing()
  }

  /** Whether another node is known to own the shard. */
  hasReleasedShard(shard: number): boolean {
    return this.#shards.hasReleased(shard)
  }

  /** Domains of client-facing addresses that move with the shard. */
  domainsOf(shard: number): ReadonlySet<number> {
    const wanted = [...this.#wanted.values()].flatMap((announcements) => [...announcements.values()])
    const domains = [...wanted, ...this.#following.values()].filter((each) => shardOf(each) === shard)
    return new Set(domains.map(({ domain }) => domain))
  }

  async close(): Promise<void> {
    this.#unfollow()
    await this.#mutex.idle()
    for (const announcer of this.#announcers) await announcer.close()
  }
}

const always: IsDue = () => true

/** Accepted announcements that are not due, since another node is the master. */
const waiting = (wanted: readonly Announcement[], isDue: IsDue): Outcomes =>
  wanted.filter((each) => !isDue(each)).map((announcement) => ({ announcement, error: null }))

const shardOf = ({ by }: Announcement): number | null => shardOfAnnounce(by)

const keyOf = ({ address, scope, domain }: Announcement): string => `${scope}/${domain}/${address}`
