import type { Clock, Timer } from '@spout/runtime'
import type { Log } from '@spout/sys'
import type { Command } from './command.ts'
import { NOTHING_PLACED, type PlacedEntry, type ProxySlots, placeEntry, releaseSlots } from './content.ts'
import { Drains } from './drains.ts'
import type { HaproxyOptions } from './options.ts'
import { type Changes, planChanges } from './plan-changes.ts'
import type { ProxyHost, ProxyPlace } from './proxy-host.ts'
import { ProxyLauncher } from './proxy-launcher.ts'
import { growScarce, initialSlots, slotsRevision, slotTables, tidySlots } from './proxy-slots.ts'
import type { RenderedEntry } from './render.ts'
import type { RunningProxy } from './running-proxy.ts'
import { Serial } from './serial.ts'
import { ServiceCounters } from './service-counters.ts'
import type { FrontendCounters } from './show.ts'
import type { SavedState } from './state-file.ts'
import { ProxyLost } from './stats-socket.ts'

export interface DomainProxyOptions {
  readonly place: ProxyPlace
  /** A proxy of the same place that is being stopped. */
  readonly after?: Promise<void>
  readonly uid: number
  readonly host: ProxyHost
  readonly options: HaproxyOptions
  readonly clock: Clock
  readonly log: Log
  /** Called for every change of the running proxy. */
  readonly count: (what: 'transaction' | 'reload') => void
}

/** Why an entry could not be made real; null when it was. */
export type Outcome = { readonly reason: string; readonly message: string } | null

/** An entry on its way from what it was to what it shall be. */
interface Move {
  readonly key: string
  readonly before: RenderedEntry | undefined
  readonly after: RenderedEntry | undefined
  readonly placedBefore: PlacedEntry
  readonly placedAfter: PlacedEntry
}

/** A connection that ends is nearly always a death; other ends can wait this long. */
const DEATH_WITHIN_MS = 200
const RESTART_PAUSE_MS = { first: 20, most: 5_000 }

/**
 * The proxy of one domain: which entries it carries in which slots. Ordinary changes go to the running process; it is
 * replaced when slots of a shape are lacking, and started again when it dies. One thing at a time.
 */
export class DomainProxy {
  readonly #given: DomainProxyOptions
  readonly #launcher: ProxyLauncher
  readonly #serial = new Serial()
  readonly #drains: Drains
  readonly #entries = new Map<string, { readonly rendered: RenderedEntry; readonly placed: PlacedEntry }>()
  #slots: ProxySlots
  /** The slots as they were last confirmed, to go back to when a start fails. */
  #confirmed: Pick<SavedState, 'frontends' | 'backends'>
  #counters = new ServiceCounters()
  #proxy: RunningProxy | null = null
  #restartPauseMs = 0
  #restart: Timer | null = null
  #sweep: Timer | null = null
  #growing = false
  #closed = false

  private constructor(given: DomainProxyOptions) {
    this.#given = given
    this.#drains = new Drains(given.options.drainMs, given.clock)
    this.#confirmed = initialSlots()
    this.#slots = slotTables(this.#confirmed, given.options)
    this.#launcher = new ProxyLauncher({ ...given, onLost: (proxy) => this.#lost(proxy) })
  }

  /** Begins with what an earlier agent left in this place, if anything. */
  static open(given: DomainProxyOptions): DomainProxy {
    const proxy = new DomainProxy(given)
    proxy.#serial
      .run(() => proxy.#adopt())
      .catch((error) => given.log.warn({ proxy: given.place.name, error: String(error) }, 'proxy not adopted'))
    return proxy
  }

  get place(): ProxyPlace {
    return this.#given.place
  }

  get pid(): number | null {
    return this.#proxy?.process.pid ?? null
  }

  /** Entries that it carries. */
  get keys(): readonly string[] {
    return [...this.#entries.keys()]
  }

  /** The local port of a service; null while it has none. */
  portOf(service: string): number | null {
    const slot = this.#slots.frontends.ownedBy(service)
    return slot === undefined ? null : this.#given.options.firstPort + slot.id
  }

  /** Has a process running, so that the first service does not wait for its start. */
  prepare(): Promise<void> {
    return this.#serial.run(async () => {
      if (this.#proxy === null) await this.#start()
    })
  }

  /** Makes entries what they shall be; what is so already costs nothing. Never throws for an entry. */
  apply(put: readonly RenderedEntry[], remove: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
    return this.#serial.run(() => this.#apply(put, remove))
  }

  /** Gives up what no entry holds: slots and servers that an earlier agent left. */
  prune(): Promise<void> {
    return this.#serial.run(async () => {
      const services = new Set(this.#rendered().flatMap(({ frontends }) => frontends.map(({ service }) => service)))
      const owners = new Set(this.#rendered().flatMap(({ backends }) => backends.map(({ owner }) => owner)))
      const { frontends, backends } = this.#slots
      for (const { owner } of frontends.slots) if (owner !== null && !services.has(owner)) frontends.release(owner)
      for (const { owner } of backends.slots) if (owner !== null && !owners.has(owner)) backends.release(owner)
      const proxy = this.#proxy
      if (proxy === null) return
      const held = {
        frontends: new Set(this.#placed().flatMap((placed) => placed.frontends.map(({ slot }) => slot))),
        backends: new Set(this.#placed().flatMap((placed) => placed.backends.map(({ slot }) => slot))),
      }
      const left: PlacedEntry = {
        frontends: [...proxy.content.frontends]
          .filter(([slot]) => !held.frontends.has(slot))
          .map(([slot, values]) => ({ slot, values })),
        backends: [...proxy.content.backends.keys()]
          .filter((slot) => !held.backends.has(slot))
          .map((slot) => ({ slot, servers: [] })),
      }
      const { raise, turn, lower } = planChanges(proxy.content, left, NOTHING_PLACED)
      await this.#execute(proxy, [...raise, ...turn, ...lower])
      await this.#confirm()
    })
  }

  /** Keys of entries that the process does not hold as it should. */
  observe(): Promise<readonly string[]> {
    return this.#serial.run(async () => {
      const proxy = this.#proxy
      if (proxy === null) return this.keys
      await proxy.refresh()
      const isLost = ({ raise, turn, lower }: Changes): boolean =>
        raise.length > 0 || turn.length > 0 || lower.some((command) => command.do === 'set-ready')
      return [...this.#entries]
        .filter(([, { placed }]) => isLost(planChanges(proxy.content, placed, placed)))
        .map(([key]) => key)
    })
  }

  /** Counters by listener. */
  stats(): Promise<
    readonly { readonly entry: RenderedEntry; readonly service: string; readonly counters: FrontendCounters }[]
  > {
    return this.#serial.run(async () => {
      await this.#sample()
      return this.#rendered().flatMap((entry) =>
        entry.frontends.flatMap(({ service }) => {
          const slot = this.#slots.frontends.ownedBy(service)
          return slot === undefined ? [] : [{ entry, service, counters: this.#counters.of(service, slot.id) }]
        }),
      )
    })
  }

  /** Ends the process and removes everything it had. */
  stop(): Promise<void> {
    return this.#serial.run(async () => {
      this.#letGo()
      await this.#launcher.stop()
    })
  }

  /** Lets the process live on for the next agent. */
  close(): Promise<void> {
    return this.#serial.run(async () => this.#letGo())
  }

  async #adopt(): Promise<void> {
    await this.#given.after?.catch(() => {})
    const { saved, proxy } = await this.#launcher.adopt()
    if (saved === null) return
    this.#confirmed = { frontends: saved.frontends, backends: saved.backends }
    this.#slots = slotTables(this.#confirmed, this.#given.options)
    this.#counters = new ServiceCounters(proxy === null ? [] : saved.baselines)
    this.#proxy = proxy
  }

  async #apply(put: readonly RenderedEntry[], remove: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
    const outcomes = new Map<string, Outcome>()
    const moves: Move[] = remove.filter((key) => this.#entries.has(key)).map((key) => this.#moveTo(key, undefined))
    const revision = slotsRevision(this.#slots)
    for (const entry of put) {
      try {
        moves.push(this.#moveTo(entry.key, entry))
        outcomes.set(entry.key, null)
      } catch (error) {
        releaseSlots(entry, this.#entries.get(entry.key)?.rendered, this.#slots)
        outcomes.set(entry.key, outcomeOf(error))
      }
    }
    try {
      const replace = this.#proxy === null || slotsRevision(this.#slots) !== revision
      const refused = replace ? await this.#restartWith(moves) : await this.#changeBy(moves)
      for (const [key, message] of refused) outcomes.set(key, { reason: 'ProxyRefused', message })
    } catch (error) {
      for (const { key } of moves) outcomes.set(key, outcomeOf(error))
    }
    this.#growLater()
    this.#sweepLater()
    return outcomes
  }

  /** @throws SlotsExhausted */
  #moveTo(key: string, after: RenderedEntry | undefined): Move {
    const held = this.#entries.get(key)
    const placedAfter = after === undefined ? NOTHING_PLACED : placeEntry(after, this.#slots)
    return { key, before: held?.rendered, after, placedBefore: held?.placed ?? NOTHING_PLACED, placedAfter }
  }

  /** A new process with everything as it shall be. @throws when it does not start; nothing has changed then */
  async #restartWith(moves: readonly Move[]): Promise<ReadonlyMap<string, string>> {
    const entries = new Map(this.#entries)
    for (const move of moves) this.#commit(move)
    try {
      await this.#start()
    } catch (error) {
      this.#entries.clear()
      for (const [key, entry] of entries) this.#entries.set(key, entry)
      this.#slots = slotTables(this.#confirmed, this.#given.options)
      throw error
    }
    return new Map()
  }

  /** Changes of the running process. @returns the proxy's words for entries that it refused; those are as they were */
  async #changeBy(moves: readonly Move[]): Promise<ReadonlyMap<string, string>> {
    const proxy = this.#proxy
    if (proxy === null) throw new ProxyLost('the proxy is not running')
    try {
      const plans = moves.map((move) => ({
        move,
        plan: planChanges(proxy.content, move.placedBefore, move.placedAfter),
      }))
      const refused = await this.#executeFor(
        proxy,
        plans.map(({ move, plan }) => ({ move, commands: plan.raise })),
      )
      const willing = plans.filter(({ move }) => !refused.has(move.key))
      const turned = willing.map(({ move, plan }) => ({ move, commands: [...plan.turn, ...plan.lower] }))
      for (const [key, message] of await this.#executeFor(proxy, turned)) refused.set(key, message)
      for (const { move } of plans) {
        if (refused.has(move.key)) await this.#goBack(proxy, move)
        else this.#commit(move)
      }
      if (moves.some(changesOwners)) await this.#confirm()
      return refused
    } catch (error) {
      if (!(error instanceof ProxyLost)) throw error
      for (const move of moves) this.#commit(move)
      await this.#recover()
      return new Map()
    }
  }

  async #goBack(proxy: RunningProxy, { before, after, placedBefore, placedAfter }: Move): Promise<void> {
    const { raise, turn, lower } = planChanges(proxy.content, placedAfter, placedBefore)
    await this.#execute(proxy, [...raise, ...turn, ...lower])
    this.#drains.keep(placedBefore)
    releaseSlots(after, before, this.#slots)
  }

  #commit({ key, before, after, placedAfter }: Move): void {
    releaseSlots(before, after, this.#slots)
    this.#drains.keep(placedAfter)
    const services = new Set(after?.frontends.map(({ service }) => service))
    for (const { service } of before?.frontends ?? []) if (!services.has(service)) this.#counters.forget(service)
    if (after === undefined) this.#entries.delete(key)
    else this.#entries.set(key, { rendered: after, placed: placedAfter })
  }

  async #executeFor(
    proxy: RunningProxy,
    plans: readonly { readonly move: Move; readonly commands: readonly Command[] }[],
  ): Promise<Map<string, string>> {
    const all = plans.flatMap(({ move, commands }) => commands.map((command) => ({ key: move.key, command })))
    const refusals = await this.#execute(
      proxy,
      all.map(({ command }) => command),
    )
    const refused = new Map<string, string>()
    for (const [index, refusal] of refusals.entries()) {
      const { key } = all[index]!
      // The first refusal is the cause of those that follow.
      if (refusal !== null && !refused.has(key)) refused.set(key, refusal)
    }
    return refused
  }

  /** @returns for each command null, or the proxy's words; a server that is still in use is not a refusal but drains */
  async #execute(proxy: RunningProxy, commands: readonly Command[]): Promise<readonly (string | null)[]> {
    if (commands.length === 0) return []
    const refusals = await proxy.execute(commands)
    this.#given.count('transaction')
    return this.#drains.follow(commands, refusals)
  }

  /** Starts a process with all entries; one that runs is replaced without losing a connection. */
  async #start(): Promise<void> {
    const replaced = this.#proxy?.attached ? this.#proxy : null
    if (replaced !== null) await this.#sample()
    const owners = this.#owners()
    tidySlots(this.#slots)
    this.#proxy = await this.#launcher.launch(this.#slots, this.#placed(), replaced)
    this.#counters.restart(owners)
    this.#drains.clear()
    this.#given.count(replaced === null ? 'transaction' : 'reload')
    await this.#confirm()
    // It may have died before it was ours to watch.
    if (!this.#proxy.attached) throw new ProxyLost('the proxy ended right after its start')
    this.#restartPauseMs = 0
  }

  /** The connection to the process ended: the process as well, most likely. */
  #lost(proxy: RunningProxy): void {
    if (this.#proxy !== proxy || this.#closed) return
    this.#given.log.warn({ proxy: this.place.name, pid: proxy.process.pid }, 'proxy lost')
    this.#recoverSoon()
  }

  #recoverSoon(): void {
    const attempt = this.#serial.run(async () => {
      if (!this.#closed) await this.#recover()
    })
    attempt.catch((error) => {
      this.#restartPauseMs = Math.min(RESTART_PAUSE_MS.most, this.#restartPauseMs * 2 || RESTART_PAUSE_MS.first)
      this.#given.log.warn({ proxy: this.place.name, error: String(error) }, 'proxy did not start')
      if (this.#closed) return
      this.#restart?.clear()
      this.#restart = this.#given.clock.setTimer(() => this.#recoverSoon(), this.#restartPauseMs)
    })
  }

  /** Makes the process be there again, with everything. */
  async #recover(): Promise<void> {
    const lost = this.#proxy
    if (lost !== null && !lost.attached) {
      if (!(await lost.endsWithin(DEATH_WITHIN_MS, this.#given.clock))) {
        this.#proxy = await this.#launcher.reattach(lost)
        await this.#changeBy(this.#rendered().map((entry) => this.#moveTo(entry.key, entry)))
        return
      }
      this.#proxy = null
    }
    if (this.#proxy === null) await this.#start()
  }

  #growLater(): void {
    const { frontends, backends } = this.#slots
    if (this.#growing || this.#closed || frontends.scarce().length + backends.scarce().length === 0) return
    this.#growing = true
    const growth = this.#serial.run(async () => {
      this.#growing = false
      if (this.#closed || this.#proxy === null) return
      const revision = slotsRevision(this.#slots)
      growScarce(this.#slots)
      if (slotsRevision(this.#slots) !== revision) await this.#restartWith([])
    })
    growth.catch((error) =>
      this.#given.log.warn({ proxy: this.place.name, error: String(error) }, 'slots did not grow'),
    )
  }

  #sweepLater(): void {
    const { frontends, backends } = this.#slots
    const idle = this.#drains.size + frontends.cooling().length + backends.cooling().length === 0
    if (idle || this.#closed || this.#sweep !== null) return
    this.#sweep = this.#given.clock.setTimer(() => {
      this.#sweep = null
      const sweep = this.#serial.run(() => this.#sweepOnce())
      sweep
        .catch((error) => this.#given.log.debug({ proxy: this.place.name, error: String(error) }, 'sweep failed'))
        .finally(() => this.#sweepLater())
        .catch(() => {})
    }, this.#given.options.sweepEveryMs)
  }

  /** Deletes servers that nobody uses any more and gives slots free that are empty. */
  async #sweepOnce(): Promise<void> {
    const proxy = this.#proxy
    if (proxy === null || this.#closed) return
    const due = this.#drains.due()
    if (due.length > 0) this.#drains.follow(due, await proxy.execute(due))
    const { frontends, backends } = this.#slots
    const cooling = frontends.cooling()
    const counters = cooling.length > 0 ? await this.#sample() : null
    const empty = cooling.filter(({ id }) => (counters?.get(id)?.current ?? 0) === 0)
    for (const { id } of empty) {
      this.#counters.reclaim(id)
      frontends.reclaim(id)
    }
    const emptied = backends.cooling().filter(({ id }) => !proxy.content.backends.has(id))
    for (const { id } of emptied) backends.reclaim(id)
    if (empty.length + emptied.length > 0) await this.#confirm()
  }

  async #sample(): Promise<ReadonlyMap<number, FrontendCounters> | null> {
    try {
      const sample = (await this.#proxy?.counters()) ?? null
      if (sample !== null) this.#counters.take(sample)
      return sample
    } catch (error) {
      // A dying process: its last sample stands.
      if (error instanceof ProxyLost) return null
      throw error
    }
  }

  /** The process has the slots as they are now: the next agent shall know. */
  async #confirm(): Promise<void> {
    this.#confirmed = { frontends: this.#slots.frontends.slots, backends: this.#slots.backends.slots }
    if (this.#proxy !== null)
      await this.#launcher.save(this.#proxy, { ...this.#confirmed, baselines: this.#counters.baselines })
  }

  #letGo(): void {
    this.#closed = true
    this.#restart?.clear()
    this.#sweep?.clear()
    this.#proxy?.detach()
    this.#proxy = null
  }

  #rendered(): readonly RenderedEntry[] {
    return [...this.#entries.values()].map(({ rendered }) => rendered)
  }

  #placed(): readonly PlacedEntry[] {
    return [...this.#entries.values()].map(({ placed }) => placed)
  }

  #owners(): readonly (readonly [service: string, slot: number])[] {
    return this.#slots.frontends.slots.flatMap(({ owner, id }) => (owner === null ? [] : [[owner, id] as const]))
  }
}

const changesOwners = ({ before, after }: Move): boolean => {
  const owners = (entry: RenderedEntry | undefined): string =>
    [
      ...(entry?.frontends.map(({ service }) => service) ?? []),
      ...(entry?.backends.map(({ owner }) => owner) ?? []),
    ].join()
  return owners(before) !== owners(after)
}

const outcomeOf = (error: unknown): Outcome => ({
  reason: error instanceof Error && error.name === 'SlotsExhausted' ? 'ProxyFull' : 'ProxyUnavailable',
  message: error instanceof Error ? error.message : String(error),
})
