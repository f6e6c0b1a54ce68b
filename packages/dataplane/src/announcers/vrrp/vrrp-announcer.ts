import type { GroupEntry, VrrpPeers, VrrpSettings } from '@spout/model/node-state'
import { type Clock, Mutex, pause, systemClock } from '@spout/runtime'
import { findLink, type Log, makeRunDirectory, type NativeHelper } from '@spout/sys'
import type { Announcement, AnnouncementDifference, AnnouncementOutcome, Announcer } from '../../contracts/announcer.ts'
import type { GroupReport } from '../../contracts/group-follower.ts'
import { type DomainConfig, rootNetns } from '../../domain/domain-config.ts'
import { loadAdvertFilter, removeAdvertFilter } from './advert-filter.ts'
import { VrrpRefused } from './check-settings.ts'
import { ConfigFile } from './config-file.ts'
import { type DaemonPaths, Daemons } from './daemons.ts'
import { FirstElection } from './first-election.ts'
import { GiveUp } from './give-up.ts'
import { HandOvers } from './hand-overs.ts'
import { keepalivedConfig } from './keepalived-config.ts'
import { Keeper } from './keeper.ts'
import { LinkDamping } from './link-damping.ts'
import { reportedShard } from './node-report.ts'
import { ShardAddresses } from './shard-addresses.ts'
import type { ShardReport } from './shard-report.ts'
import { ShardStates } from './shard-states.ts'
import { StateFeed } from './state-feed.ts'
import { vrrpFiles } from './vrrp-files.ts'
import { WantedTable } from './wanted-table.ts'

export interface VrrpAnnouncerOptions {
  readonly config: DomainConfig
  readonly helper: NativeHelper
  readonly log: Log
  /** Its own memory-backed directory, kept while the agent restarts. Running processes are found by it. */
  readonly directory: string
  readonly moverPath: string
  /** Default `/usr/sbin/keepalived`. */
  readonly keepalivedPath?: string
  /** How long a node stays behind the others after its link came back. Default 60 s. */
  readonly dampMs?: number
  readonly clock?: Clock
}

const GIVEN_UP_WITHIN_MS = 5_000
/** How long a busy machine may take to elect again and to bind addresses. */
const BACK_WITHIN_MS = 1_000
/** Longer than a switch with spanning tree blocks a port that came up. */
const DAMP_MS = 60_000

/** A peer takes over after this time without our adverts, plus at most one interval. */
const deathMs = ({ missedAdverts, advertMs }: VrrpPeers): number => missedAdverts * advertMs
/** The shortest of all shards: a node gives way too early rather than too late. */
const freezeMs = (settings: VrrpSettings): number =>
  2 * Math.min(...settings.shards.map(({ apart = settings }) => deathMs(apart)))

/**
 * Announces by VRRP. keepalived elects one owner for each shard. The address mover, a separate process, binds and
 * announces a shard's addresses where it is master. Both move addresses without this process.
 */
export class VrrpAnnouncer implements Announcer {
  readonly name = 'vrrp'
  readonly #options: VrrpAnnouncerOptions
  readonly #clock: Clock
  readonly #files: ReturnType<typeof vrrpFiles>
  readonly #mutex = new Mutex()
  readonly #feed: StateFeed
  readonly #table: WantedTable
  readonly #configFile: ConfigFile
  readonly #giveUp: GiveUp
  readonly #firstElection: FirstElection
  readonly #damping: LinkDamping
  readonly #daemons: Daemons
  readonly #keeper: Keeper
  readonly #addresses: ShardAddresses
  readonly #handOvers: HandOvers
  readonly #states: ShardStates
  #filterLoads = 0
  #opened = false
  /** Null before the first settings, and while this node takes no part. */
  #settings: VrrpSettings | null = null

  /** @throws RangeError if the directory's name cannot be used */
  constructor(options: VrrpAnnouncerOptions) {
    const { config, log, directory, moverPath: mover, keepalivedPath: keepalived = '/usr/sbin/keepalived' } = options
    this.#options = options
    this.#clock = options.clock ?? systemClock
    const files = vrrpFiles(directory)
    this.#files = files
    this.#handOvers = new HandOvers({ handOver: (shard, signal) => this.handOver(shard, signal), log })
    this.#feed = new StateFeed(files.state, log)
    this.#table = new WantedTable(files.addresses, log)
    this.#configFile = new ConfigFile(files.config)
    this.#giveUp = new GiveUp(files)
    this.#firstElection = new FirstElection(this.#giveUp, this.#clock)
    this.#damping = new LinkDamping({ file: files.damped, clock: this.#clock, dampMs: options.dampMs ?? DAMP_MS })
    const paths: DaemonPaths = { keepalived, mover }
    this.#daemons = new Daemons(files, paths, rootNetns(config), this.#feed)
    this.#keeper = new Keeper({
      daemons: this.#daemons,
      log,
      clock: this.#clock,
      logFile: files.keepalivedLog,
      moverPid: () => this.#feed.state?.pid,
      onChange: () => this.#states.daemonsChanged(),
    })
    this.#states = new ShardStates({
      table: this.#table,
      feed: this.#feed,
      giveUp: this.#giveUp,
      hasMover: () => this.#keeper.hasMover,
      isHandedOver: (shard) => this.#handOvers.isUnderWay(shard),
      clock: this.#clock,
    })
    this.#addresses = new ShardAddresses({
      config,
      helper: options.helper,
      table: this.#table,
      feed: this.#feed,
      isMaster: (shard) => this.#states.isMaster(shard),
    })
  }

  /** Counts changes since the start: tables, configurations and filters written, processes started. */
  get counters(): { readonly changes: number } {
    const { starts } = this.#keeper
    return { changes: this.#table.writes + this.#configFile.writes + this.#filterLoads + starts }
  }

  /**
   * Adopts what an earlier agent left running. If a configured keepalived no longer runs, it is restarted soon, which
   * removes addresses that are no longer this node's.
   */
  adopt(previous: readonly Announcement[]): Promise<void> {
    return this.#mutex.run(async () => {
      await this.#open()
      this.#addresses.adopt(previous)
    })
  }

  /**
   * Applies settings; null ends this node's part and releases its addresses. Changes no shard's state unless the
   * settings ask for it.
   * @throws VrrpRefused naming field and reason; nothing changes
   */
  configure(settings: VrrpSettings | null, signal: AbortSignal): Promise<void> {
    return this.#mutex.run(async () => {
      signal.throwIfAborted()
      await this.#open()
      await (settings === null ? this.#leave() : this.#join(settings))
    })
  }

  follow(entry: Pick<GroupEntry, 'vrrp'> | null, signal: AbortSignal): Promise<void> {
    return this.configure(entry?.vrrp ?? null, signal)
  }

  async report(): Promise<GroupReport> {
    return { shards: this.shards().map(reportedShard) }
  }

  /** @returns a function that unsubscribes */
  onReport(listener: (report: GroupReport) => void): () => void {
    return this.onShardChange((shards) => listener({ shards: shards.map(reportedShard) }))
  }

  /** Whether packets may still arrive here: the addresses of a stopped shard may still be bound. */
  attracts(): boolean {
    return this.shards().some(({ state }) => state === 'master' || state === 'stopped')
  }

  /**
   * Resolves when the mover has the whole set. Addresses are then bound if this node is master of their shard, and
   * otherwise ready to be bound. An address that cannot be announced is reported and stops no other.
   */
  apply(wanted: readonly Announcement[], signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    return this.#mutex.run(async () => {
      signal.throwIfAborted()
      return this.#addresses.apply(wanted, signal)
    })
  }

  /** Resolves when the mover has the difference. Same as `apply` of the whole set, without checking what stays. */
  change(difference: AnnouncementDifference, signal: AbortSignal): Promise<readonly AnnouncementOutcome[]> {
    return this.#mutex.run(async () => {
      signal.throwIfAborted()
      return this.#addresses.change(difference, signal)
    })
  }

  /** Accepted announcements, except those that should be bound here and are not. The next change binds them again. */
  observe(): Promise<readonly Announcement[]> {
    return this.#mutex.run(() => this.#addresses.observe())
  }

  /** The addresses of the shards that this node masters. */
  announced(): readonly Announcement[] {
    return this.#addresses.announced()
  }

  shards(): readonly ShardReport[] {
    return this.#states.all()
  }

  /** As `ShardStates.onChange`. */
  onShardChange(listener: (shards: readonly ShardReport[]) => void): () => void {
    return this.#states.onChange(listener)
  }

  /**
   * Sets whether this node can carry traffic. False releases all shards at once; true takes part again as backup. Until
   * the first call the earlier agent's decision stands.
   */
  setHealthy(healthy: boolean, reason: string): void {
    this.#states.unhealthyReason = reason
    this.#giveUp.unhealthy = !healthy
  }

  /** Hands one shard to a peer and takes part in it again as backup. Does nothing if this node is not its master. */
  async handOver(shard: number, signal: AbortSignal): Promise<void> {
    if (!this.#states.isMaster(shard)) return
    this.#giveUp.hold(shard, true)
    try {
      const left = () => !this.#states.isMaster(shard)
      await this.#feed.until(left, `shard ${shard} was not given up`, GIVEN_UP_WITHIN_MS, signal)
      // Longer than a peer needs to take over if the advert of priority 0 was lost.
      await pause(this.#clock, this.#table.table.freezeMs, signal)
    } finally {
      this.#giveUp.hold(shard, false)
    }
  }

  /** Hands over each shard that a peer can take. What none takes is back, and bound, when it resolves. */
  async handOverAll(signal: AbortSignal): Promise<void> {
    const settings = this.#settings
    if (settings === null) return
    const shared = settings.shards.filter(({ apart = settings }) => apart.peers.length > 0)
    const mastered = shared.filter(({ number }) => this.#states.isMaster(number))
    await Promise.all(mastered.map(({ number }) => this.handOver(number, signal)))
    if (mastered.length === 0) return
    // A shard without a peer that lives comes back after the time to a takeover. The kernel then goes on forwarding. Of
    // what a peer took nothing comes back.
    const backMs = BACK_WITHIN_MS + 2 * Math.max(...mastered.map(({ apart = settings }) => deathMs(apart)))
    const areBack = () => mastered.every(({ number }) => this.#states.isMaster(number))
    const waited = this.#feed.until(areBack, 'not all shards came back', backMs, signal)
    await waited.catch(() => signal.throwIfAborted())
  }

  /** Leaves everything running and bound for the next agent. */
  async close(): Promise<void> {
    await this.#keeper.close()
    this.#firstElection.end()
    this.#handOvers.close()
    this.#damping.close()
    this.#feed.close()
    this.#states.close()
    await this.#mutex.idle()
  }

  async #open(): Promise<void> {
    if (this.#opened) return
    await makeRunDirectory(this.#files.directory, 0o700)
    await this.#configFile.load()
    await this.#feed.open()
    await this.#table.load(this.#feed.state?.generation ?? 0)
    this.#feed.onChange(() => {
      this.#lookAtLink()
      this.#states.review()
    })
    // An agent that died during a hand-over must not leave the shard blocked.
    for (const shard of this.#table.table.routers.keys()) this.#giveUp.hold(shard, false)
    if (this.#configFile.text !== null) await this.#keeper.adopt()
    this.#opened = true
  }

  async #join(settings: VrrpSettings): Promise<void> {
    const { config } = this.#options
    const text = keepalivedConfig(settings, {
      fabricInterface: config.fabricInterface,
      files: this.#files,
      moverPath: this.#options.moverPath,
    })
    const link = { netns: config.rootNamespace ?? null, name: config.fabricInterface }
    if ((await findLink(link)) === null)
      throw new VrrpRefused(`fabric interface ${link.name} does not exist in ${link.netns ?? 'the root namespace'}`)
    const numbers = settings.shards.map(({ number }) => number)
    this.#giveUp.prepare(numbers)
    this.#damping.prepare()
    if (this.#keeper.running === null && this.#feed.state === null) this.#firstElection.begin(settings.shards)
    const differs = await this.#configFile.offer(text, (path) => this.#daemons.test(path))
    if (await loadAdvertFilter(this.#options.helper, config, settings)) this.#filterLoads++
    await this.#table.write({
      // Twice the time to a takeover: after a shorter sleep VRRP alone settles on one owner, and giving way would only
      // cause an outage.
      freezeMs: freezeMs(settings),
      routers: new Map(settings.shards.map(({ number, routerId }) => [number, routerId])),
      rows: new Map([...this.#table.table.rows].filter(([, { shard }]) => numbers.includes(shard))),
    })
    this.#addresses.forgetRowless()
    this.#settings = settings
    this.#giveUp.drained = settings.yield
    if (this.#keeper.running === null) await this.#keeper.ensure()
    else if (differs) await this.#keeper.reload()
    this.#states.review()
    this.#handOvers.begin(settings.shards)
  }

  async #leave(): Promise<void> {
    if (this.#configFile.text === null && this.#table.table.routers.size === 0) return
    this.#settings = null
    await this.#keeper.stop()
    // The mover removed its addresses. What a killed mover left is removed here.
    await this.#daemons.sweep()
    await removeAdvertFilter(this.#options.helper, this.#options.config)
    await this.#configFile.remove()
    await this.#table.write({ routers: new Map(), rows: new Map() })
    this.#addresses.forgetRowless()
    this.#states.review()
  }

  #lookAtLink(): void {
    const before = this.#damping.damped
    this.#damping.look(this.#feed.state?.shards ?? [], (shard) => this.#states.whyGivenUp(shard) !== null)
    if (!before && this.#damping.damped)
      this.#options.log.warn({}, 'the link was lost; for a while this node has a lower priority than the others')
  }
}
