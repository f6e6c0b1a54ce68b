import type {
  AddressConflictReport,
  BgpSessionReport,
  DepartureReport,
  FlowsReport,
  ShardReport,
  Sight,
} from '@spout/model/node-report'
import type { Announce, BgpSettings, GroupEntry } from '@spout/model/node-state'
import { Serial } from '@spout/runtime'
import type { BgpAnnouncer } from '../announcers/bgp/bgp-announcer.ts'
import type { BgpSession } from '../announcers/bgp/bgp-session.ts'
import type { L2Announcer } from '../announcers/l2/l2-announcer.ts'
import type { NeighbourWatch } from '../announcers/l2/neighbour-watch.ts'
import type { ShardReport as LocalShard } from '../announcers/vrrp/shard-report.ts'
import type { VrrpAnnouncer } from '../announcers/vrrp/vrrp-announcer.ts'
import type { Announcement, AnnouncementDifference, Announcer } from '../contracts/announcer.ts'
import type { FlowReplication } from '../flows/flow-replication.ts'
import type { Departure } from '../second-chance/departure.ts'
import type { SecondChance } from '../second-chance/second-chance.ts'
import type { ShardDepartures } from '../second-chance/shard-departures.ts'

type Via = Announce['via']
type Outcomes = Awaited<ReturnType<Announcer['apply']>>
type IsDue = (announcement: Announcement) => boolean

export interface NodeAnnouncersOptions {
  readonly l2: L2Announcer
  readonly vrrp: VrrpAnnouncer
  readonly bgp: BgpAnnouncer
  readonly flows: Pick<FlowReplication, 'configure' | 'report' | 'close'>
  /** What becomes of the proxy's connections in a planned move: here, and when this node is the one that is left. */
  readonly secondChance: Pick<SecondChance, 'configure'>
  readonly departure: Pick<Departure, 'configure' | 'report' | 'onChange' | 'close'>
  /** The same for single shards that this node hands over while it stays. */
  readonly shardDepartures: Pick<ShardDepartures, 'configure' | 'close'>
  /** Looks after nodes of the group that do not report. */
  readonly neighbours: Pick<NeighbourWatch, 'configure' | 'onChange' | 'close'>
  /** The node's address on the fabric, as its neighbours know it; null when it has none. */
  readonly fabricAddress: () => Promise<string | null>
}

/**
 * A node's part in its group: its announcers as one, each given the announcements that name it, and what they have to
 * tell of themselves.
 */
export class NodeAnnouncers implements Announcer {
  readonly name = 'node'
  readonly #options: NodeAnnouncersOptions
  readonly #announcers: ReadonlyMap<Via, Announcer>
  /** What each announced last, and the whole made of it: the same answers give the same array. */
  #observed: { readonly parts: readonly (readonly Announcement[])[]; readonly whole: readonly Announcement[] } | null =
    null
  /** What is announced, for announcers that want to hear the whole set each time. */
  readonly #wanted = new Map<Via, Map<string, Announcement>>()
  /** Wanted by BGP while this node is master of a shard. */
  readonly #following = new Map<string, Announcement>()
  /** Of those, the ones that BGP announces now. */
  #followed: ReadonlySet<string> = new Set()
  readonly #serial = new Serial()
  /** What routers are told with the addresses; null without BGP. */
  #bgpDrain: BgpSettings['drain'] | null = null
  readonly #unfollow: () => void

  constructor(options: NodeAnnouncersOptions) {
    this.#options = options
    this.#unfollow = options.vrrp.onShardChange(() => void this.#follow().catch(() => {}))
    this.#announcers = new Map<Via, Announcer>([
      ['l2', options.l2],
      ['vrrp', options.vrrp],
      ['bgp', options.bgp],
    ])
  }

  /**
   * How this node takes part; null ends its part and withdraws what VRRP and BGP announce. Nothing is touched when
   * nothing differs. One announcer that refuses its settings keeps the old ones and stops no other.
   * @throws AggregateError of what was refused
   */
  async configure(
    entry: Pick<GroupEntry, 'vrrp' | 'bgp' | 'flows' | 'secondChance' | 'watch'> | null,
    signal: AbortSignal,
  ): Promise<void> {
    const { vrrp, bgp, flows, secondChance, departure, shardDepartures } = this.#options
    this.#bgpDrain = entry?.bgp?.drain ?? null
    this.#options.neighbours.configure(entry?.watch ?? [])
    departure.configure(entry?.secondChance ?? null, {
      gaveUp: async () => (this.#bgpDrain === null ? this.#answersForNothing() : this.#bgpDrain !== 'prefer-others'),
      answersForNothing: () => this.#answersForNothing(),
    })
    shardDepartures.configure(entry?.secondChance ?? null, {
      gaveUp: (shard) => this.#gaveUp(shard),
      domainsOf: (shard) => this.#domainsOf(shard),
    })
    // First: what it is for may come as soon as an address is announced.
    const chance = await Promise.allSettled([secondChance.configure(entry?.secondChance ?? null)])
    const outcomes = await Promise.allSettled([
      vrrp.configure(entry?.vrrp ?? null, signal),
      bgp.configure(entry?.bgp ?? null, signal),
      flows.configure(entry?.flows ?? null),
    ])
    const refused = [...chance, ...outcomes].flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as Error] : [],
    )
    if (refused.length > 0) throw new AggregateError(refused, refused.map(({ message }) => message).join('; '))
  }

  /** Whether no client's new connection comes here. */
  async #answersForNothing(): Promise<boolean> {
    const { vrrp, l2 } = this.#options
    const routes = this.#bgpDrain !== null && this.#bgpDrain !== 'withdrawn'
    // While nobody says what became of a shard its addresses may be here.
    if (routes || vrrp.shards().some(({ state }) => state === 'master' || state === 'stopped')) return false
    return (await l2.observe()).length === 0
  }

  /** Whether a shard is another node's: while nobody says what became of it, its addresses may be here. */
  #gaveUp(number: number): boolean {
    const state = this.#options.vrrp.shards().find(({ shard }) => shard === number)?.state
    return state === 'backup' || state === 'fault'
  }

  /** Where addresses are that clients come to, and that go with the shard. */
  #domainsOf(shard: number): ReadonlySet<number> {
    const wanted = [...(this.#wanted.get('vrrp')?.values() ?? []), ...this.#following.values()]
    return new Set(wanted.flatMap(({ by, domain }) => (by.via !== 'l2' && by.shard === shard ? [domain] : [])))
  }

  /** Of those that follow a shard, BGP withdraws at once what this node lost while no agent ran. */
  adopt(previous: readonly Announcement[]): Promise<void> {
    return this.#serial.run(async () => {
      this.#following.clear()
      for (const each of previous.filter(followsShard)) this.#following.set(keyOf(each), each)
      for (const [via, announcer] of this.#announcers) {
        const own = previous.filter(({ by }) => by.via === via)
        this.#wanted.set(via, new Map(own.map((each) => [keyOf(each), each])))
        await announcer.adopt(own)
      }
      const isDue = this.#isDue()
      const go = [...this.#following.values()].filter((each) => !isDue(each))
      if (go.length > 0) await this.#changeOne('bgp', this.#options.bgp, { come: [], go }, new AbortController().signal)
      this.#followed = this.#due(isDue)
    })
  }

  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<Outcomes> {
    return this.#serial.run(async () => {
      const outcomes: Outcomes[] = []
      this.#following.clear()
      for (const each of wanted.filter(followsShard)) this.#following.set(keyOf(each), each)
      let isDue: IsDue = always
      for (const [via, announcer] of this.#announcers) {
        if (via === 'bgp') isDue = this.#isDue()
        const own = wanted.filter((each) => each.by.via === via && isDue(each))
        this.#wanted.set(via, new Map(own.map((each) => [keyOf(each), each])))
        outcomes.push(await announcer.apply(own, signal))
      }
      this.#followed = this.#due(isDue)
      return [...outcomes.flat(), ...waiting(wanted, isDue)]
    })
  }

  change({ come, go }: AnnouncementDifference, signal: AbortSignal): Promise<Outcomes> {
    return this.#serial.run(async () => {
      const outcomes: Outcomes[] = []
      for (const each of go.filter(followsShard)) this.#following.delete(keyOf(each))
      for (const each of come.filter(followsShard)) this.#following.set(keyOf(each), each)
      let isDue: IsDue = always
      for (const [via, announcer] of this.#announcers) {
        if (via === 'bgp') isDue = this.#isDue()
        const own = {
          come: come.filter((each) => each.by.via === via && isDue(each)),
          go: go.filter(({ by }) => by.via === via),
        }
        if (own.come.length + own.go.length === 0) continue
        outcomes.push(await this.#changeOne(via, announcer, own, signal))
      }
      this.#followed = this.#due(isDue)
      return [...outcomes.flat(), ...waiting(come, isDue)]
    })
  }

  /** A shard came or went: the addresses that follow it are announced or withdrawn by BGP. */
  #follow(): Promise<void> {
    return this.#serial.run(async () => {
      const due = this.#due(this.#isDue())
      const come = [...due.difference(this.#followed)].map((key) => this.#following.get(key)!)
      const go = [...this.#followed.difference(due)].flatMap((key) => this.#following.get(key) ?? [])
      if (come.length + go.length === 0) return
      await this.#changeOne('bgp', this.#options.bgp, { come, go }, new AbortController().signal)
      this.#followed = due
    })
  }

  #due(isDue: IsDue): ReadonlySet<string> {
    return new Set([...this.#following].flatMap(([key, each]) => (isDue(each) ? [key] : [])))
  }

  /**
   * Which announcements are made with the shards as they are now. Asked for once in an operation, when it is the turn of
   * BGP: what changes after that is followed by an operation of its own.
   */
  #isDue(): IsDue {
    const shards = this.#options.vrrp.shards()
    const mastered = new Set(shards.flatMap(({ shard, state }) => (state === 'master' ? [shard] : [])))
    return ({ by }) => by.via !== 'bgp' || by.shard === null || mastered.has(by.shard)
  }

  /** Outcomes of what is not new are left out: who asked for a change hears of the change. */
  async #changeOne(
    via: Via,
    announcer: Announcer,
    { come, go }: AnnouncementDifference,
    signal: AbortSignal,
  ): Promise<Outcomes> {
    const wanted = this.#wanted.get(via) ?? new Map<string, Announcement>()
    this.#wanted.set(via, wanted)
    for (const each of go) wanted.delete(keyOf(each))
    for (const each of come) wanted.set(keyOf(each), each)
    if (announcer.change !== undefined) return announcer.change({ come, go }, signal)
    const coming = new Set(come.map(keyOf))
    const outcomes = await announcer.apply([...wanted.values()], signal)
    return outcomes.filter(({ announcement }) => coming.has(keyOf(announcement)))
  }

  async observe(): Promise<readonly Announcement[]> {
    const present = await Promise.all(Array.from(this.#announcers.values(), (announcer) => announcer.observe()))
    const isDue = this.#following.size === 0 ? always : this.#isDue()
    const away = [...this.#following.values()].filter((each) => !isDue(each))
    const parts = away.length === 0 ? present : [...present, away]
    const same =
      this.#observed?.parts.length === parts.length &&
      this.#observed.parts.every((part, index) => part === parts[index])
    if (!same) this.#observed = { parts, whole: parts.flat() }
    return this.#observed!.whole
  }

  /** Whether this node can carry traffic at all: while it cannot, it owns no shard. */
  setHealthy(healthy: boolean, reason: string): void {
    this.#options.vrrp.setHealthy(healthy, reason)
  }

  fabricAddress(): Promise<string | null> {
    return this.#options.fabricAddress()
  }

  shards(): readonly ShardReport[] {
    return this.#options.vrrp.shards().map(told)
  }

  /** @returns a function that ends it */
  onShards(listener: (shards: readonly ShardReport[]) => void): () => void {
    return this.#options.vrrp.onShardChange((shards) => listener(shards.map(told)))
  }

  flows(): Promise<FlowsReport | null> {
    return this.#options.flows.report()
  }

  departure(): DepartureReport | null {
    return this.#options.departure.report
  }

  /** @returns a function that ends it */
  onDeparture(listener: (departure: DepartureReport | null) => void): () => void {
    return this.#options.departure.onChange(listener)
  }

  addressConflicts(): readonly AddressConflictReport[] {
    return this.#options.l2.conflicts()
  }

  /** @returns a function that ends it */
  onAddressConflicts(listener: (conflicts: readonly AddressConflictReport[]) => void): () => void {
    return this.#options.l2.onConflicts(listener)
  }

  /** @returns a function that ends it */
  onSights(listener: (sights: readonly Sight[]) => void): () => void {
    return this.#options.neighbours.onChange(listener)
  }

  async bgpSessions(): Promise<readonly BgpSessionReport[]> {
    return (await this.#options.bgp.sessions()).map(inReport)
  }

  /** @returns a function that ends it */
  onBgpSessions(listener: (sessions: readonly BgpSessionReport[]) => void): () => void {
    return this.#options.bgp.onSessionChange((sessions) => listener(sessions.map(inReport)))
  }

  async close(): Promise<void> {
    this.#unfollow()
    this.#options.neighbours.close()
    await this.#options.departure.close()
    await this.#options.shardDepartures.close()
    await this.#serial.idle()
    for (const announcer of this.#announcers.values()) await announcer.close()
    await this.#options.flows.close()
  }
}

const always: IsDue = () => true

/** Taken on, and nothing to do for now: another node is the master. */
const waiting = (wanted: readonly Announcement[], isDue: IsDue): Outcomes =>
  wanted.filter((each) => !isDue(each)).map((announcement) => ({ announcement, error: null }))

const followsShard = ({ by }: Announcement): boolean => by.via === 'bgp' && by.shard !== null

const keyOf = ({ address, scope, domain }: Announcement): string => `${scope}/${domain}/${address}`

const told = ({ shard, state, since, takeovers, lastMove }: LocalShard): ShardReport => ({
  number: shard,
  state,
  since,
  takeovers,
  lastMove:
    lastMove === null
      ? null
      : {
          at: lastMove.at,
          from: lastMove.to === 'master' ? 'backup' : 'master',
          to: lastMove.to,
          reason: lastMove.reason,
          silentMs: lastMove.silentMs,
        },
})

const inReport = ({ peerId, state, since, announced, lastError, bfd }: BgpSession): BgpSessionReport => ({
  peerId,
  state,
  since,
  announced,
  lastError,
  bfd,
})
