import type { StateLine } from '@spout/client/agent-link'
import type { Announcement, DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import type { EntryReport } from '@spout/model/node-report'
import type { DomainEntry, LoadBalancerEntry } from '@spout/model/node-state'
import type { Clock, Logger } from '@spout/runtime'
import { Announcements, gatewayWishes, markTakeovers, wishesOf } from './announcements.ts'
import { AppliedState } from './applied-state.ts'
import { applyToDomains, applyToDrivers, type Failure, failureOf } from './apply-result.ts'
import { BrokenKeys } from './broken-keys.ts'
import type { Domains } from './domains.ts'
import type { GroupAnnouncer } from './group-announcer.ts'
import { lostKeys } from './lost-keys.ts'
import { PreparedEntries } from './prepared-entries.ts'
import { RetrySchedule } from './retry-schedule.ts'
import type { StateFile } from './state-file.ts'
import { type Held, unreadable, WantedState } from './wanted-state.ts'

export interface NodeReconcilerOptions {
  readonly domains: Domains
  readonly drivers: readonly DataPlaneDriver[]
  readonly announcer: GroupAnnouncer
  readonly state: StateFile
  readonly onReport: (report: EntryReport) => void
  /** The node no longer holds this key. */
  readonly onRemoved: (key: string) => void
  /** The data plane follows this entry now; null when it forgot the key. */
  readonly onApplied: (key: string, entry: LoadBalancerEntry | null) => void
  readonly onInSync: (inSync: boolean) => void
  readonly clock: Clock
  readonly random: () => number
  readonly log: Logger
}

/** Keys of one pass: bounds what one transaction holds, and how long a change waits behind a bulk. */
const PASS_KEYS = 512
/** Longer than any honest transaction; what then has not been done counts as failed and is tried again. */
const PASS_DEADLINE_MS = 30_000
const NONE: ReadonlySet<string> = new Set()

/**
 * Brings one node to what the control plane wants of it.
 *
 * Passes run one at a time over the keys that need a look; what changes during a pass is part of the next. The order
 * within a pass is the promise: the node takes its part in the group, domains come up, addresses that go are withdrawn, drivers change, addresses that come
 * are announced, domains go down. So nothing is announced before the data plane confirmed it, and nothing removed
 * while it is announced. An entry that fails keeps its previous state, is reported, and is tried again with back-off.
 */
export class NodeReconciler {
  readonly #options: NodeReconcilerOptions
  readonly #wanted = new WantedState()
  readonly #applied = new AppliedState()
  readonly #down = new Map<string, ReadonlySet<string>>()
  readonly #announcements: Announcements
  readonly #retries: RetrySchedule
  readonly #broken: BrokenKeys
  /** Keys that need a look. */
  readonly #dirty = new Set<string>()
  /** Keys that the stream changed before its first full set was complete. */
  readonly #arrived = new Set<string>()
  readonly #prepared: PreparedEntries
  #observeDue = false
  #syncing = false
  #running: Promise<void> | null = null
  #stopped = false
  #abort: AbortController | null = null

  constructor(options: NodeReconcilerOptions) {
    this.#options = options
    this.#announcements = new Announcements(options.announcer)
    this.#broken = new BrokenKeys((healthy, reason) => {
      options.log[healthy ? 'info' : 'error'](
        { event: 'node-health', healthy, reason },
        'whether this node can carry traffic',
      )
      options.announcer.setHealthy(healthy, reason)
    })
    this.#prepared = new PreparedEntries(options.drivers)
    this.#retries = new RetrySchedule(options.clock, options.random, (keys) => this.look(keys))
  }

  /**
   * Takes over what an earlier process left, as the state file tells it. With nothing changed since, neither the
   * kernel nor a proxy is touched.
   */
  async adopt(): Promise<void> {
    const { drivers, state } = this.#options
    const saved = [...state.entries]
    for (const [key, { hash, entry, down }] of saved) {
      this.#wanted.put(key, { hash, entry })
      if (down.size > 0) this.#down.set(key, down)
    }
    const up = await this.#adoptDomains(saved)
    const previous = saved.flatMap(([key, { hash, entry, down }]): readonly WantedEntry[] => {
      const domain = entry.kind === 'load-balancer' ? up.get(entry.domain) : undefined
      return domain === undefined || entry.kind !== 'load-balancer' ? [] : [{ key, hash, domain, entry, down }]
    })
    for (const driver of drivers) await this.#adoptDriver(driver, previous)
    for (const { key, hash, entry } of previous) this.#confirm(key, { hash, entry })
    const gateways = Array.from(up.values(), (domain) => [domain.key, gatewayWishes(domain)] as const)
    const addresses = previous.map(({ key, entry, down }) => [key, wishesOf(entry, down)] as const)
    this.look(await this.#announcements.adopt(new Map([...gateways, ...addresses])))
    for (const key of up.values().map((domain) => domain.key)) this.#report(key, this.#applied.get(key)!.hash, null)
    for (const { key, hash } of previous) this.#report(key, hash, null)
    // Last: a daemon that is started for it finds everything ready that it may announce.
    await this.#applyGroup(this.#wanted.get(GROUP), new AbortController().signal)
    this.observe()
  }

  /** @returns the domains that are up, by number */
  async #adoptDomains(saved: readonly (readonly [string, Held])[]): Promise<ReadonlyMap<number, DomainEntry>> {
    const entries = saved.flatMap(([, { entry }]) =>
      entry.kind === 'domain' && unreadable(entry) === null ? [entry] : [],
    )
    // Also without any: it prepares the machine for the first one.
    await this.#options.domains.adopt(entries)
    await this.#applyDomains(
      saved.flatMap(([key, held]) => (held.entry.kind === 'domain' ? [[key, held] as const] : [])),
      new AbortController().signal,
    )
    return new Map(
      entries.filter(({ key }) => this.#applied.get(key) !== undefined).map((entry) => [entry.number, entry]),
    )
  }

  async #adoptDriver(driver: DataPlaneDriver, previous: readonly WantedEntry[]): Promise<void> {
    try {
      await driver.adopt(previous)
    } catch (error) {
      this.#options.log.error({ event: 'adopt-failed', driver: driver.name, err: error }, 'applying everything again')
      this.look(previous.map(({ key }) => key))
    }
  }

  /** The state stream begins anew. */
  begin(): void {
    this.#wanted.begin()
  }

  /**
   * Nothing is done before the first full set is complete: what this process does not know of yet may be in use on the
   * node, left by one whose state file was lost.
   */
  take(lines: readonly StateLine[]): void {
    for (const key of this.#wanted.take(lines)) this.#arrived.add(key)
    if (!this.#wanted.complete) return
    if (lines.some((line) => line.type === 'synced')) this.#syncing = true
    this.look(this.#arrived)
    this.#arrived.clear()
    this.#settle()
  }

  /** Members that are down now; they get no new connections. */
  setDown(key: string, members: ReadonlySet<string>): void {
    const before = this.#down.get(key) ?? NONE
    if (before.size === members.size && members.isSubsetOf(before)) return
    if (members.size === 0) this.#down.delete(key)
    else this.#down.set(key, members)
    if (this.#applied.get(key) !== undefined) this.look([key])
  }

  /** Has these keys done again, whatever was done before. */
  look(keys: Iterable<string>): void {
    for (const key of keys) this.#dirty.add(key)
    if (this.#dirty.size > 0) this.#wake()
  }

  /** Asks domains and drivers what was lost, between two passes, and mends it. */
  observe(): void {
    this.#observeDue = true
    this.#wake()
  }

  /** Resolves when nothing is left to do but what waits for its retry. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  /** Ends after the pass in hand, which gets `graceMs`; everything stays forwarding as it is. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true
    this.#retries.close()
    const timer = this.#options.clock.setTimer(() => this.#abort?.abort(), graceMs)
    await this.idle()
    timer.clear()
  }

  #wake(): void {
    if (!this.#stopped) this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // What the same turn of the event loop brings belongs to one pass.
    await Promise.resolve()
    while (!this.#stopped && (this.#dirty.size > 0 || this.#observeDue)) {
      if (this.#dirty.size > 0) await this.#pass(this.#nextKeys())
      else await this.#observe()
    }
    this.#running = null
    this.#broken.settle(this.#wanted.loadBalancers)
    this.#settle()
  }

  #settle(): void {
    if (!this.#syncing || this.#running !== null || this.#dirty.size > 0) return
    this.#syncing = false
    this.#options.onInSync(true)
  }

  /** What load balancers stand on first: those of a full set must not fail for a domain that is among the later keys. */
  #nextKeys(): readonly string[] {
    const first = [...this.#dirty].filter((key) => !isLoadBalancer(key) && this.#wanted.get(key) !== undefined)
    const keys = new Set(first)
    for (const key of this.#dirty) {
      if (keys.size >= PASS_KEYS) break
      keys.add(key)
    }
    for (const key of keys) this.#dirty.delete(key)
    return [...keys]
  }

  async #pass(keys: readonly string[]): Promise<void> {
    const abort = new AbortController()
    this.#abort = abort
    const deadline = this.#options.clock.setTimer(() => abort.abort(), PASS_DEADLINE_MS)
    const preparing = this.#prepared.begin(this.#dirty, PASS_KEYS, (key) => this.#foreseen(key))
    try {
      const wanted = keys.map((key) => [key, this.#wanted.get(key)] as const)
      const put = wanted.flatMap(([key, held]) => (held === undefined ? [] : [[key, held] as const]))
      const gone = wanted.flatMap(([key, held]) => (held === undefined ? [key] : []))
      if (keys.includes(GROUP)) await this.#applyGroup(this.#wanted.get(GROUP), abort.signal)
      const domains = put.filter(([, { entry }]) => entry.kind === 'domain')
      await this.#applyDomains(domains, abort.signal)
      await this.#announceGateways(domains, abort.signal)
      await this.#changeLoadBalancers(put, gone.filter(isLoadBalancer), abort.signal)
      await this.#removeDomains(
        gone.filter((key) => !isLoadBalancer(key) && key !== GROUP),
        abort.signal,
      )
    } catch (error) {
      this.#options.log.error({ event: 'pass-threw', err: error, bug: true }, 'the pass was given up; will try again')
      for (const key of keys) this.#retries.failed(key)
    } finally {
      deadline.clear()
      this.#abort = null
      preparing.end()
    }
  }

  /** The node's part in its group; what an announcer refuses leaves it as it was. */
  async #applyGroup(held: Held | undefined, signal: AbortSignal): Promise<void> {
    if (held !== undefined && (held.entry.kind !== 'group' || unreadable(held.entry) !== null))
      return this.#fail(GROUP, { reason: 'UnsupportedVersion', message: unreadable(held.entry) ?? 'is no group entry' })
    const entry = held?.entry.kind === 'group' ? held.entry : null
    // A node that was never told of a group has nothing to end.
    if (entry === null && this.#applied.get(GROUP) === undefined) return
    try {
      await this.#options.announcer.configure(entry, signal)
    } catch (error) {
      return this.#fail(GROUP, failureOf('GroupRefused', error))
    }
    if (held === undefined) return this.#forget(GROUP)
    this.#confirm(GROUP, held)
    this.#options.state.put(GROUP, held.hash, held.entry, NONE)
    this.#report(GROUP, held.hash, null)
  }

  /** Gateway addresses that move with a shard are announced like VIPs; with them a domain is complete. */
  async #announceGateways(put: readonly (readonly [string, Held])[], signal: AbortSignal): Promise<void> {
    const wishes = put.flatMap(([key, { entry }]) =>
      entry.kind === 'domain' && this.#applied.get(key)?.entry === entry ? [[key, gatewayWishes(entry)] as const] : [],
    )
    let refused: ReadonlyMap<string, string>
    try {
      refused = await this.#announcements.apply(new Map(wishes), signal)
    } catch (error) {
      refused = new Map(wishes.map(([key]) => [key, failureOf('AnnounceFailed', error).message]))
    }
    for (const [key] of wishes) if (!refused.has(key)) this.#report(key, this.#applied.get(key)!.hash, null)
    for (const [key, message] of refused) this.#fail(key, { reason: 'AnnounceFailed', message })
  }

  async #applyDomains(put: readonly (readonly [string, Held])[], signal: AbortSignal): Promise<void> {
    const entries: DomainEntry[] = []
    for (const [key, { entry }] of put) {
      const why = unreadable(entry)
      if (why !== null) this.#fail(key, { reason: 'UnsupportedVersion', message: why })
      else if (entry.kind === 'domain') entries.push(entry)
    }
    if (entries.length === 0) return
    const failures = await applyToDomains(this.#options.domains, { put: entries, remove: [] }, signal)
    for (const [key, held] of put) {
      const failure = failures.get(key)
      if (held.entry.kind !== 'domain' || unreadable(held.entry) !== null) continue
      if (failure !== undefined) {
        this.#fail(key, failure)
        continue
      }
      const before = this.#applied.get(key)
      this.#confirm(key, held)
      this.#options.state.put(key, held.hash, held.entry, NONE)
      if (before !== undefined && before.hash === held.hash) continue
      for (const inside of this.#wanted.inDomain(held.entry.number)) this.#dirty.add(inside)
    }
  }

  async #changeLoadBalancers(
    put: readonly (readonly [string, Held])[],
    gone: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const ready = put.flatMap(([key, held]) => this.#withDomain(key, held) ?? [])
    const held = await this.#withdraw(ready, gone, signal)
    await this.#program(
      ready.filter(({ key }) => !held.has(key)),
      gone.filter((key) => !held.has(key)),
      signal,
    )
  }

  async #program(ready: readonly WantedEntry[], gone: readonly string[], signal: AbortSignal): Promise<void> {
    const failures = await applyToDrivers(this.#options.drivers, { put: ready, remove: gone }, signal)
    for (const key of gone) {
      const failure = failures.get(key)
      if (failure === undefined) this.#forget(key)
      else this.#fail(key, failure)
    }
    const programmed = ready.filter(({ key }) => !failures.has(key))
    const wishes = new Map<string, readonly Announcement[]>()
    for (const { key, hash, entry, down } of programmed) {
      wishes.set(key, markTakeovers(wishesOf(entry, down), this.#applied.get(key)?.entry))
      this.#confirm(key, { hash, entry })
      this.#options.state.put(key, hash, entry, down)
    }
    for (const [key, failure] of failures) if (this.#wanted.get(key) !== undefined) this.#fail(key, failure)
    await this.#announce(programmed, wishes, signal)
  }

  /** What a later pass will hand to the drivers for a key, if nothing changes until then. */
  #foreseen(key: string): WantedEntry | null {
    const held = this.#wanted.get(key)
    if (held?.entry.kind !== 'load-balancer' || unreadable(held.entry) !== null) return null
    const domain = this.#applied.get(`domain/${held.entry.domain}`)?.entry
    if (domain?.kind !== 'domain') return null
    return { key, hash: held.hash, domain, entry: held.entry, down: this.#down.get(key) ?? NONE }
  }

  /** The entry with its domain as it is on this node; null when there is none, or the entry cannot be read. */
  #withDomain(key: string, { hash, entry }: Held): WantedEntry | null {
    if (entry.kind !== 'load-balancer') return null
    const why = unreadable(entry)
    if (why !== null) {
      this.#fail(key, { reason: 'UnsupportedVersion', message: why })
      return null
    }
    const domainKey = `domain/${entry.domain}`
    const domain = this.#applied.get(domainKey)?.entry
    if (domain?.kind === 'domain')
      return this.#prepared.take({ key, hash, domain, entry, down: this.#down.get(key) ?? NONE })
    this.#fail(key, { reason: 'DomainUnavailable', message: `domain ${entry.domain} is not there on this node` })
    return null
  }

  /**
   * Takes back what goes, before anything is removed.
   * @returns the keys for which that failed: they must stay in the data plane for now
   */
  async #withdraw(
    put: readonly WantedEntry[],
    gone: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const changes = new Map<string, readonly Announcement[]>(gone.map((key) => [key, []]))
    for (const { key, entry, down } of put) changes.set(key, this.#announcements.remaining(key, wishesOf(entry, down)))
    try {
      await this.#announcements.apply(changes, signal)
      return NONE
    } catch (error) {
      const affected = new Set(
        [...changes].filter(([key, wanted]) => this.#announcements.differ(key, wanted)).map(([key]) => key),
      )
      for (const key of affected) this.#fail(key, failureOf('WithdrawFailed', error))
      return affected
    }
  }

  async #announce(
    programmed: readonly WantedEntry[],
    wishes: ReadonlyMap<string, readonly Announcement[]>,
    signal: AbortSignal,
  ): Promise<void> {
    let refused: ReadonlyMap<string, string>
    try {
      refused = await this.#announcements.apply(wishes, signal)
    } catch (error) {
      refused = new Map(programmed.map(({ key }) => [key, failureOf('AnnounceFailed', error).message]))
    }
    for (const { key, hash } of programmed) if (!refused.has(key)) this.#report(key, hash, null)
    for (const [key, message] of refused) this.#fail(key, { reason: 'AnnounceFailed', message })
  }

  async #removeDomains(keys: readonly string[], signal: AbortSignal): Promise<void> {
    const empty: string[] = []
    for (const key of keys) {
      const users = this.#applied.countIn(Number(key.slice('domain/'.length)))
      if (users === 0) empty.push(key)
      else this.#fail(key, { reason: 'DomainInUse', message: `${users} load balancers are still in it` })
    }
    if (empty.length === 0) return
    await this.#announcements.apply(new Map(empty.map((key) => [key, []])), signal)
    const failures = await applyToDomains(this.#options.domains, { put: [], remove: empty }, signal)
    for (const key of empty) {
      const failure = failures.get(key)
      if (failure === undefined) this.#forget(key)
      else this.#fail(key, failure)
    }
  }

  async #observe(): Promise<void> {
    this.#observeDue = false
    const { domains, drivers, log } = this.#options
    const withdrawn = await lostKeys([this.#announcements], log)
    const lost = new Set<string>()
    for (const key of await lostKeys([domains, ...drivers], log)) {
      lost.add(key)
      // A lost domain took everything in it along.
      const held = this.#wanted.get(key)
      if (held?.entry.kind === 'domain') for (const inside of this.#wanted.inDomain(held.entry.number)) lost.add(inside)
    }
    this.#broken.lost([...lost].filter(isLoadBalancer))
    for (const key of [...withdrawn, ...lost]) this.#dirty.add(key)
  }

  #confirm(key: string, held: Held): void {
    this.#applied.put(key, held)
    this.#broken.mended(key)
    if (held.entry.kind === 'load-balancer') this.#options.onApplied(key, held.entry)
  }

  #forget(key: string): void {
    this.#prepared.forget(key)
    this.#broken.mended(key)
    this.#applied.delete(key)
    this.#down.delete(key)
    this.#retries.succeeded(key)
    this.#options.state.delete(key)
    if (isLoadBalancer(key)) this.#options.onApplied(key, null)
    this.#options.onRemoved(key)
  }

  #fail(key: string, failure: Failure): void {
    const hash = this.#wanted.get(key)?.hash ?? this.#applied.get(key)?.hash ?? ''
    this.#retries.failed(key)
    const attempts = this.#retries.attempts(key)
    this.#options.log[attempts === 1 ? 'warn' : 'debug'](
      { event: 'entry-failed', key, ...failure, attempts },
      'the entry keeps its previous state; will try again',
    )
    this.#report(key, hash, failure)
  }

  #report(key: string, hash: string, failure: Failure | null): void {
    if (failure === null) this.#retries.succeeded(key)
    this.#options.onReport({
      key,
      hash,
      state: failure === null ? 'programmed' : 'failed',
      reason: failure?.reason ?? null,
      message: failure?.message ?? null,
      announced: this.#announcements.announced(key),
    })
  }
}

/** The key of the node's own entry. */
const GROUP = 'group'
const isLoadBalancer = (key: string): boolean => key.startsWith('lb/')
