import type { Announcement, Announcer } from '@spout/dataplane'
import { awaitsMember, shardOfAnnounce } from '@spout/model/announce'
import type { DomainEntry, LoadBalancerEntry, NodeStateEntry } from '@spout/model/node-state'

type RequestedAnnouncements = ReadonlyMap<string, readonly Announcement[]>

/**
 * Identity of an announcement. It includes how the address is announced: a change of that withdraws it and announces it
 * anew.
 */
const identity = ({ address, scope, domain, by }: Announcement): string =>
  `${scope}/${domain}/${address}/${Object.values(by).join('/')}`

/** The announcements that an entry wants from this node, given the members that are down. */
export const announcementsOf = (entry: LoadBalancerEntry, down: ReadonlySet<string>): readonly Announcement[] =>
  entry.vips.flatMap(({ address, scope, announce: by }) =>
    by === null || (awaitsMember(by) && !hasMemberUp(entry, down))
      ? []
      : [{ address, scope, domain: entry.domain, by }],
  )

const hasMemberUp = ({ pools }: LoadBalancerEntry, down: ReadonlySet<string>): boolean =>
  pools.some(({ members }) => members.some((member) => member !== null && !down.has(member.id)))

/**
 * The shared addresses of a domain that an announcer moves between the nodes of a group: its gateways, or with return
 * path `snat` the address that members see. Without a shard the planner assigns them to nodes, and they are bound as the
 * domain's own addresses.
 */
export const gatewayAnnouncements = ({ number, gateway, subnets, returnPath }: DomainEntry): readonly Announcement[] =>
  gateway === null || shardOfAnnounce(gateway) === null
    ? []
    : subnets.flatMap(({ gatewayIp, sharedAddress }) => {
        const address = returnPath === 'gateway' ? gatewayIp : sharedAddress
        return address === null ? [] : [{ address, scope: 'tenant', domain: number, by: gateway }]
      })

/**
 * Marks announcements of addresses that this node held without announcing them: another node of the group announced
 * them.
 * @param before the entry as this node last had it
 */
export function markTakeovers(
  requested: readonly Announcement[],
  before: NodeStateEntry | undefined,
): readonly Announcement[] {
  if (before?.kind !== 'load-balancer') return requested
  const silent = new Set(before.vips.filter((vip) => vip.announce === null).map(({ address }) => address))
  return silent.size === 0
    ? requested
    : requested.map((one) => (silent.has(one.address) ? { ...one, takeover: true } : one))
}

/**
 * The announcements of all entries, by entry key. A change costs in proportion to its size if the announcer supports
 * differences.
 */
export class EntryAnnouncements {
  readonly #announcer: Announcer
  readonly #byKey = new Map<string, readonly Announcement[]>()
  /**
   * Counts the entries that want an announcement, by its identity. While an address moves between two entries, both
   * want it.
   */
  readonly #requesters = new Map<string, number>()
  /** The last result of the announcer's `observe` in which nothing was missing. */
  #whole: readonly Announcement[] | null = null

  constructor(announcer: Announcer) {
    this.#announcer = announcer
  }

  /** @returns keys with an address that is no longer announced as before */
  async adopt(previous: RequestedAnnouncements): Promise<readonly string[]> {
    await this.#announcer.adopt([...previous.values()].flat())
    this.#byKey.clear()
    this.#requesters.clear()
    for (const [key, announcements] of previous) this.#set(key, announcements)
    return this.observe()
  }

  /** The addresses that are announced for this key. */
  announced(key: string): readonly string[] {
    return this.#of(key).map((one) => one.address)
  }

  /**
   * The announcements that remain for these keys before their entries change. An address that another of the keys wants
   * stays: it moves between the two.
   */
  remaining(requested: RequestedAnnouncements): RequestedAnnouncements {
    const wanted = new Set([...requested.values()].flat().map(identity))
    return new Map(
      [...requested].map(([key, own]) => [
        key,
        this.differ(key, own) ? this.#of(key).filter((one) => wanted.has(identity(one))) : own,
      ]),
    )
  }

  differ(key: string, wanted: readonly Announcement[]): boolean {
    const now = this.#of(key)
    return now.length !== wanted.length || now.some((one, index) => identity(one) !== identity(wanted[index]!))
  }

  /**
   * Applies `changes`: for each key, all announcements that it wants. Does nothing if nothing differs.
   * @returns the announcer's error texts, by key with a refused address
   * @throws what the announcer threw; nothing counts as changed then
   */
  async apply(changes: RequestedAnnouncements, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const differing = [...changes].filter(([key, wanted]) => this.differ(key, wanted))
    if (differing.length === 0) return new Map()
    const outcomes =
      this.#announcer.change === undefined
        ? await this.#announcer.apply(this.#wholeWith(new Map(differing)), signal)
        : await this.#announcer.change(this.#difference(differing), signal)
    for (const [key, wanted] of differing) this.#set(key, wanted)
    const words = new Map<string, string>()
    for (const { announcement, error } of outcomes) if (error !== null) words.set(identity(announcement), error)
    if (words.size === 0) return words
    const failed = this.#drop((one) => words.has(identity(one)))
    return new Map(failed.map(([key, one]) => [key, aboutAddress(one.address, words.get(identity(one))!)]))
  }

  /** @returns keys with an address that is no longer announced */
  async observe(): Promise<readonly string[]> {
    const present = await this.#announcer.observe()
    if (present === this.#whole) return []
    this.#whole = present
    const there = new Set(present.map(identity))
    const gone = this.#drop((one) => !there.has(identity(one)))
    if (gone.length > 0) this.#whole = null
    return gone.map(([key]) => key)
  }

  #wholeWith(changes: RequestedAnnouncements): readonly Announcement[] {
    const whole: Announcement[] = []
    for (const [key, announcements] of this.#byKey) if (!changes.has(key)) whole.push(...announcements)
    for (const announcements of changes.values()) whole.push(...announcements)
    return whole
  }

  #difference(changes: readonly (readonly [string, readonly Announcement[]])[]) {
    const turns = new Map<string, { readonly one: Announcement; requesters: number }>()
    const count = (announcements: readonly Announcement[], step: 1 | -1) => {
      for (const one of announcements) {
        const turn = turns.get(identity(one)) ?? { one, requesters: 0 }
        turn.requesters += step
        turns.set(identity(one), turn)
      }
    }
    for (const [key, wanted] of changes) {
      count(this.#of(key), -1)
      count(wanted, 1)
    }
    const [come, go]: [Announcement[], Announcement[]] = [[], []]
    for (const [name, { one, requesters }] of turns) {
      const before = this.#requesters.get(name) ?? 0
      if (before === 0 && requesters > 0) come.push(one)
      if (before > 0 && before + requesters === 0) go.push(one)
    }
    return { come, go }
  }

  #set(key: string, announcements: readonly Announcement[]): void {
    for (const one of this.#of(key)) {
      const left = this.#requesters.get(identity(one))! - 1
      if (left === 0) this.#requesters.delete(identity(one))
      else this.#requesters.set(identity(one), left)
    }
    for (const one of announcements) this.#requesters.set(identity(one), (this.#requesters.get(identity(one)) ?? 0) + 1)
    if (announcements.length === 0) this.#byKey.delete(key)
    else this.#byKey.set(key, announcements)
    this.#whole = null
  }

  /** Forgets announcements that are missing, so that they are announced again. */
  #drop(isGone: (announcement: Announcement) => boolean): readonly (readonly [string, Announcement])[] {
    const gone = [...this.#byKey].flatMap(([key, announcements]) =>
      announcements.filter(isGone).map((one) => [key, one] as const),
    )
    for (const key of new Set(gone.map(([name]) => name)))
      this.#set(
        key,
        this.#of(key).filter((one) => !isGone(one)),
      )
    return gone
  }

  #of(key: string): readonly Announcement[] {
    return this.#byKey.get(key) ?? []
  }
}

/** An error text that begins with the address names it already. */
const aboutAddress = (address: string, words: string): string =>
  words.startsWith(`${address} `) ? words : `${address}: ${words}`
