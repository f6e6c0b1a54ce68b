import type { Announce } from '@spout/model/node-state'
import { Mutex } from '@spout/runtime'
import type { Announcement, AnnouncementDifference, Announcer } from '../contracts/announcer.ts'

type Outcomes = Awaited<ReturnType<Announcer['apply']>>
type IsDue = (announcement: Announcement) => boolean

/** Who owns which shard of the group: the announcer that elects says it. */
export interface ShardOwnership {
  /** Shards that this node is master of. */
  mastered(): ReadonlySet<number>
  /** @returns a function that ends it */
  onChange(listener: () => void): () => void
}

/**
 * The announcers of a node as one: each is given the announcements whose `by.via` is its name, those of a shard that it
 * follows (`Announcer.followsShards`) only while this node is the shard's master.
 */
export class AnnouncerRegistry implements Announcer {
  readonly name = 'node'
  readonly #announcers: readonly Announcer[]
  readonly #shards: ShardOwnership
  /** What each announced last, and the whole made of it: the same answers give the same array. */
  #observed: { readonly parts: readonly (readonly Announcement[])[]; readonly whole: readonly Announcement[] } | null =
    null
  /** What is announced, for announcers that want to hear the whole set each time. */
  readonly #wanted = new Map<Announcer, Map<string, Announcement>>()
  /** Wanted while this node is master of a shard, by announcers that follow shards. */
  readonly #following = new Map<string, Announcement>()
  /** Of those, the ones that are announced now. */
  #followed: ReadonlySet<string> = new Set()
  readonly #mutex = new Mutex()
  readonly #unfollow: () => void

  /** @param announcers those that follow shards come after the one that elects: a shard that it takes is followed at once */
  constructor(announcers: readonly Announcer[], shards: ShardOwnership) {
    this.#announcers = announcers
    this.#shards = shards
    this.#unfollow = shards.onChange(() => void this.#follow().catch(() => {}))
  }

  /** Of those that follow a shard, those are withdrawn at once that this node lost while no agent ran. */
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

  /** A shard came or went: the addresses that follow it are announced or withdrawn. */
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
   * Which announcements are made with the shards as they are now. Asked for once in an operation, when it is the turn of
   * an announcer that follows them: what changes after that is followed by an operation of its own.
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

  /** Outcomes of what is not new are left out: who asked for a change hears of the change. */
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

  /** Domains with addresses that clients come to, and that go with the shard. */
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

/** Taken on, and nothing to do for now: another node is the master. */
const waiting = (wanted: readonly Announcement[], isDue: IsDue): Outcomes =>
  wanted.filter((each) => !isDue(each)).map((announcement) => ({ announcement, error: null }))

const shardOf = ({ by }: { readonly by: Announce }): number | null => ('shard' in by ? by.shard : null)

const keyOf = ({ address, scope, domain }: Announcement): string => `${scope}/${domain}/${address}`
