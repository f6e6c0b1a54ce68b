import type { StateLine } from '@spout/client/agent-link'
import {
  type Announcer,
  type DataPlaneDriver,
  type EntryFollower,
  type GroupFollower,
  SlowStarts,
  type WantedEntry,
} from '@spout/dataplane'
import { domainKey, GROUP_KEY, isLoadBalancerKey } from '@spout/model/entry-keys'
import type { DomainEntry } from '@spout/model/node-state'
import { withProxyPorts } from './apply-result.ts'
import type { Domains } from './domains.ts'
import { DriverChoice } from './driver-choice.ts'
import { announcementsOf, EntryAnnouncements, gatewayAnnouncements } from './entry-announcements.ts'
import { EntryStatuses, type EntryStatusesOptions } from './entry-statuses.ts'
import { lostKeys, type Observable } from './lost-keys.ts'
import { OrderedChanges } from './ordered-changes.ts'
import { type Held, unreadable, WantedState } from './wanted-state.ts'

export interface NodeReconcilerOptions
  extends Pick<EntryStatusesOptions, 'state' | 'onReport' | 'onRemoved' | 'onApplied' | 'clock' | 'random' | 'log'> {
  readonly domains: Domains
  /** In order: a later driver may redirect to the proxy ports of an earlier one. */
  readonly drivers: readonly DataPlaneDriver[]
  /** Follow the entries before the drivers, which use what they provide. */
  readonly preparers: readonly EntryFollower[]
  /** Follow the entries of all drivers, in this order. */
  readonly followers: readonly EntryFollower[]
  readonly announcer: Announcer
  readonly group: Pick<GroupFollower, 'follow'>
  readonly onInSync: (inSync: boolean) => void
  /** The processor time that this process's main thread has taken. Default: as the system counts it. */
  readonly cpuMs?: () => number
}

/** Limit of keys per pass. It bounds the size of a transaction, and how long a change waits behind many others. */
const PASS_KEYS = 512
/** Time limit of a pass, longer than any regular transaction. What is not done by then fails and is retried. */
const PASS_DEADLINE_MS = 30_000
/** Parts that read much take at most this share of a core while nothing changes. */
const OBSERVED_SHARE = 0.001
/** They are asked at least this often. */
const LONGEST_REST_MS = 60_000

const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Reconciles one node with the state that the control plane wants.
 *
 * Passes run one at a time over the keys that changed. Changes during a pass are part of the next one. An entry that
 * fails keeps its previous state, is reported, and is retried with back-off.
 */
export class NodeReconciler {
  readonly #options: NodeReconcilerOptions
  readonly #wanted = new WantedState()
  readonly #announcements: EntryAnnouncements
  readonly #statuses: EntryStatuses
  readonly #choice: DriverChoice
  readonly #changes: OrderedChanges
  readonly #slowStarts: SlowStarts
  /** Keys for the next pass. */
  readonly #dirty = new Set<string>()
  /** Keys that the stream changed and that wait for the first full set, or for their domain. */
  readonly #arrived = new Set<string>()
  /** Whether the node is new: no earlier agent left anything on it. */
  #isNew = false
  /** Which parts are to be observed. */
  #observeDue: 'all' | 'rested' | null = null
  /** When parts that read much may be observed again, on the clock. */
  #restedAtMs = 0
  /** Parts that ended their observation early, because changes waited. They go on when these are made. */
  #interrupted: readonly Observable[] = []
  /** Ends an observation under way early. */
  #pressing: AbortController | null = null
  #syncing = false
  #running: Promise<void> | null = null
  #stopped = false
  #abort: AbortController | null = null

  constructor(options: NodeReconcilerOptions) {
    this.#options = options
    const { announcer, log } = options
    this.#announcements = new EntryAnnouncements(announcer)
    this.#statuses = new EntryStatuses({
      ...options,
      wanted: this.#wanted,
      announced: (key) => this.#announcements.announced(key),
      onDue: (keys) => this.look(keys),
      onHealth: (healthy, reason) => {
        log[healthy ? 'info' : 'error'](
          { event: 'node-health', healthy, reason },
          healthy ? 'the node can carry traffic' : 'the node cannot carry traffic',
        )
        announcer.setHealthy?.(healthy, reason)
      },
    })
    this.#slowStarts = new SlowStarts({ clock: options.clock, onStep: (keys) => this.look(keys) })
    this.#choice = new DriverChoice(options.drivers)
    this.#changes = new OrderedChanges({
      ...options,
      choice: this.#choice,
      slowStarts: this.#slowStarts,
      announcements: this.#announcements,
      wanted: this.#wanted,
      statuses: this.#statuses,
      onDomainChanged: (number, underWay) => {
        for (const key of this.#wanted.inDomain(number)) if (!underWay.has(key)) this.#dirty.add(key)
      },
    })
  }

  /**
   * Takes over what an earlier process left, according to the state file. If nothing has changed since, the kernel and
   * the proxies are not touched.
   */
  async adopt(): Promise<void> {
    const { preparers, drivers, followers, state } = this.#options
    const saved = [...state.entries]
    for (const [key, { hash, entry, down, shares }] of saved) {
      this.#wanted.put(key, { hash, entry })
      if (down.size > 0) this.#changes.setDown(key, down)
      if (entry.kind === 'load-balancer') this.#slowStarts.restore(entry, down, shares)
    }
    const up = await this.#adoptDomains(saved)
    const previous = saved.flatMap(([key, { hash, entry, down, shares }]): readonly WantedEntry[] => {
      const domain = entry.kind === 'load-balancer' ? up.get(entry.domain) : undefined
      return domain === undefined || entry.kind !== 'load-balancer' ? [] : [{ key, hash, domain, entry, down, shares }]
    })
    for (const preparer of preparers) await this.#adoptPart(preparer, previous)
    let entries: readonly WantedEntry[] = previous
    for (const driver of drivers) {
      await this.#adoptPart(
        driver,
        entries.filter((wanted) => this.#choice.of(wanted).drivers.has(driver)),
      )
      entries = withProxyPorts(this.#choice, driver, entries)
    }
    for (const follower of followers) await this.#adoptPart(follower, entries)
    for (const { key, hash, entry, down, shares } of previous)
      this.#statuses.confirm(key, { hash, entry }, down, shares)
    const gateways = Array.from(up.values(), (domain) => [domain.key, gatewayAnnouncements(domain)] as const)
    const addresses = previous.map(({ key, entry, down }) => [key, announcementsOf(entry, down)] as const)
    this.look(await this.#announcements.adopt(new Map([...gateways, ...addresses])))
    for (const { key } of [...up.values(), ...previous]) this.#statuses.done(key)
    // Last, so that a daemon that this starts finds its addresses ready to be announced.
    await this.#changes.applyGroup(new AbortController().signal)
    this.observe()
  }

  /** @returns the domains that exist, by number */
  async #adoptDomains(saved: readonly (readonly [string, Held])[]): Promise<ReadonlyMap<number, DomainEntry>> {
    const entries = saved.flatMap(([, { entry }]) =>
      entry.kind === 'domain' && unreadable(entry) === null ? [entry] : [],
    )
    // Also called without domains, since `adopt` prepares the machine for the first one.
    const found = await this.#options.domains.adopt(entries)
    this.#isNew = saved.length === 0 && found.length === 0
    await this.#changes.applyDomains(
      saved.flatMap(([key, held]) => (held.entry.kind === 'domain' ? [[key, held] as const] : [])),
      new AbortController().signal,
    )
    return new Map(
      entries.filter(({ key }) => this.#statuses.get(key) !== undefined).map((entry) => [entry.number, entry]),
    )
  }

  async #adoptPart(part: EntryFollower, previous: readonly WantedEntry[]): Promise<void> {
    try {
      await part.adopt(previous)
    } catch (error) {
      this.#options.log.error(
        { event: 'adopt-failed', part: part.name, err: error },
        'the state of an earlier agent was not adopted; applying everything again',
      )
      this.look(previous.map(({ key }) => key))
    }
  }

  /** Call when the state stream begins. */
  begin(): void {
    this.#wanted.begin()
  }

  /**
   * Takes lines of the state stream. If an earlier agent left something, nothing is applied before the first full set
   * is complete, since entries that this process does not know yet may be in use. A new node applies lines as they
   * arrive.
   * @throws Error if a line edits a version that this node does not have. Then the stream must start again
   */
  take(lines: readonly StateLine[]): void {
    const { changed, unknown } = this.#wanted.take(lines)
    for (const key of changed) this.#arrived.add(key)
    if (lines.some((line) => line.type === 'synced')) this.#syncing = true
    const ready = [...this.#arrived].filter((key) => this.#mayBegin(key))
    for (const key of ready) this.#arrived.delete(key)
    this.look(ready)
    this.#settle()
    if (unknown.length > 0) throw new Error(`${unknown[0]} was edited from a version that this node does not have`)
  }

  /** Takes lines of the node's own settings. They are applied at once, since they need no other entry. */
  takeLocal(lines: readonly StateLine[]): void {
    this.look(this.#wanted.take(lines).changed)
  }

  /** Sets the members that are down and get no new connections. */
  setDown(key: string, members: ReadonlySet<string>): void {
    if (this.#changes.setDown(key, members) && this.#statuses.get(key) !== undefined) this.look([key])
  }

  /** Applies these keys again, whatever was applied before. */
  look(keys: Iterable<string>): void {
    for (const key of keys) this.#dirty.add(key)
    if (this.#dirty.size === 0) return
    this.#pressing?.abort()
    this.#wake()
  }

  /** Asks domains and drivers what was lost, between two passes, and repairs it. */
  observe(): void {
    this.#observeDue = 'all'
    this.#wake()
  }

  /** As `observe`, without the parts that have read much lately: a proxy with thousands of routes is asked less often. */
  observeRested(): void {
    this.#observeDue ??= 'rested'
    this.#wake()
  }

  /** Resolves when only retries are left to do. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running
  }

  /** Ends after the current pass, which gets `graceMs`. Everything that is programmed stays in force. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true
    this.#pressing?.abort()
    this.#statuses.close()
    this.#slowStarts.close()
    const timer = this.#options.clock.setTimer(() => this.#abort?.abort(), graceMs)
    await this.idle()
    timer.clear()
  }

  #mayBegin(key: string): boolean {
    if (this.#wanted.complete) return true
    if (!this.#isNew) return false
    const entry = this.#wanted.get(key)?.entry
    // Its domain may come later in the full set.
    return entry?.kind !== 'load-balancer' || this.#wanted.get(domainKey(entry.domain)) !== undefined
  }

  #wake(): void {
    if (!this.#stopped) this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    // Lines of the same event-loop turn belong to one pass.
    await Promise.resolve()
    while (!this.#stopped && (this.#dirty.size > 0 || this.#observeDue !== null || this.#interrupted.length > 0)) {
      if (this.#dirty.size > 0) await this.#pass(this.#nextKeys())
      else await this.#observe()
    }
    this.#running = null
    this.#statuses.settle()
    this.#settle()
  }

  #settle(): void {
    if (!this.#syncing || this.#running !== null || this.#dirty.size > 0) return
    this.#syncing = false
    this.#options.onInSync(true)
  }

  /**
   * The next keys, those that load balancers depend on first: a load balancer must not fail because its domain is in a
   * later pass.
   */
  #nextKeys(): readonly string[] {
    const gone = [...this.#dirty].filter((key) => this.#wanted.get(key) === undefined)
    // The group waits for what is removed before it (`OrderedChanges.make`).
    const isFirst = (key: string): boolean =>
      !isLoadBalancerKey(key) && this.#wanted.get(key) !== undefined && (key !== GROUP_KEY || gone.length <= PASS_KEYS)
    const first = [...this.#dirty].filter(isFirst)
    const keys = new Set(first.includes(GROUP_KEY) ? [...first, ...gone] : first)
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
    const preparing = this.#changes.prepare(this.#dirty, PASS_KEYS)
    try {
      await this.#changes.make(keys, abort.signal)
    } catch (error) {
      this.#options.log.error({ event: 'pass-threw', err: error, bug: true }, 'the pass was given up; will try again')
      this.#statuses.postpone(keys)
    } finally {
      deadline.clear()
      this.#abort = null
      preparing.end()
    }
  }

  /** A change that comes meanwhile does not wait for parts that read much. */
  async #observe(): Promise<void> {
    const { clock, log, cpuMs = threadCpuMs } = this.#options
    const pressing = new AbortController()
    this.#pressing = pressing
    const isWhole = this.#observeDue !== null
    const parts = this.#toObserve()
    const beforeMs = cpuMs()
    this.#observeDue = null
    const withdrawn = isWhole ? await lostKeys([this.#announcements], log) : []
    const lost = new Set<string>()
    for (const key of await lostKeys(parts, log, pressing.signal)) {
      lost.add(key)
      // If a domain is lost, the entries in it are lost too.
      const held = this.#wanted.get(key)
      if (held?.entry.kind === 'domain') for (const inside of this.#wanted.inDomain(held.entry.number)) lost.add(inside)
    }
    const { aborted } = pressing.signal
    this.#interrupted = aborted ? parts.filter(({ observing = false }: Observable) => observing) : []
    this.#pressing = null
    if (parts.some(readsMuch))
      this.#restedAtMs = clock.monotonicMs() + Math.min((cpuMs() - beforeMs) / OBSERVED_SHARE, LONGEST_REST_MS)
    this.#statuses.lost([...lost].filter(isLoadBalancerKey))
    for (const key of [...withdrawn, ...lost]) this.#dirty.add(key)
  }

  #toObserve(): readonly Observable[] {
    const { domains, preparers, drivers, followers, clock } = this.#options
    if (this.#observeDue === null) return this.#interrupted
    const all: readonly Observable[] = [domains, ...preparers, ...drivers, ...followers]
    const isResting = this.#observeDue === 'rested' && clock.monotonicMs() < this.#restedAtMs
    return isResting ? all.filter((part) => !readsMuch(part) || this.#interrupted.includes(part)) : all
  }
}

/** Whether it reads so much that it can be interrupted. */
const readsMuch = ({ observing }: Observable): boolean => observing !== undefined
