import { type Clock, restartPauseMs, Serial, type Timer } from '@spout/runtime'
import type { Log } from '@spout/sys'
import type { MemberTraffic } from '../../driver.ts'
import { closingSockets } from './closing-sockets.ts'
import type { Command } from './command.ts'
import { NOTHING_PLACED } from './content.ts'
import { Drains } from './drains.ts'
import { changesOwners, Ledger, type Move } from './ledger.ts'
import type { HaproxyOptions } from './options.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import { disturbs, planChanges } from './plan-changes.ts'
import type { ProxyHost } from './proxy-host.ts'
import { ProxyLauncher } from './proxy-launcher.ts'
import type { ProxyPlace } from './proxy-place.ts'
import { growScarce, tidySlots } from './proxy-slots.ts'
import type { RenderedEntry } from './render.ts'
import type { RunningProxy } from './running-proxy.ts'
import { ServiceCounters } from './service-counters.ts'
import type { FrontendCounters } from './show.ts'
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

/** A connection that ends is nearly always a death; other ends can wait this long. */
const DEATH_WITHIN_MS = 200

/**
 * The proxy of one domain: which entries it carries in which slots. Ordinary changes go to the running process; it is
 * replaced when slots of a shape are lacking, and started again when it dies. One thing at a time.
 */
export class DomainProxy {
  readonly #given: DomainProxyOptions
  readonly #launcher: ProxyLauncher
  readonly #serial = new Serial()
  readonly #drains: Drains
  #ledger: Ledger
  #counters = new ServiceCounters()
  #proxy: RunningProxy | null = null
  #startedAtMs = Number.NEGATIVE_INFINITY
  #pauseMs = 0
  #restart: Timer | null = null
  #sweep: Timer | null = null
  #growing = false
  #closed = false

  private constructor(given: DomainProxyOptions) {
    this.#given = given
    this.#drains = new Drains(given.options.drainMs, given.clock)
    this.#ledger = new Ledger(given.options)
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
    return this.#ledger.keys
  }

  /** The local port of a service; null while it has none. */
  portOf(service: string): number | null {
    const slot = this.#ledger.frontendOf(service)
    return slot === undefined ? null : this.#given.options.firstPort + slot
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
      this.#ledger.releaseUnheld()
      const proxy = this.#proxy
      if (proxy === null) return
      const { raise, turn, lower } = planChanges(proxy.content, this.#ledger.unheld(proxy.content), NOTHING_PLACED)
      await this.#execute(proxy, [...raise, ...turn, ...lower])
      await this.#confirm()
    })
  }

  /** Keys of entries that the process does not hold as it should. */
  observe(): Promise<readonly string[]> {
    return this.#serial.run(async () => {
      const proxy = this.#proxy
      if (proxy === null) return this.keys
      try {
        await proxy.refresh()
      } catch (error) {
        if (error instanceof ProxyLost) return this.keys
        throw error
      }
      return this.keys.filter((key) => {
        const placed = this.#ledger.placedOf(key)
        return disturbs(planChanges(proxy.content, placed, placed))
      })
    })
  }

  /** Counters by listener. */
  stats(): Promise<
    readonly { readonly entry: RenderedEntry; readonly service: string; readonly counters: FrontendCounters }[]
  > {
    return this.#serial.run(async () => {
      await this.#sample()
      return this.#ledger.rendered.flatMap((entry) =>
        entry.frontends.flatMap(({ service }) => {
          const slot = this.#ledger.frontendOf(service)
          return slot === undefined ? [] : [{ entry, service, counters: this.#counters.of(service, slot) }]
        }),
      )
    })
  }

  /**
   * Has the process replaced when anybody is connected to it: the new one takes those who come, the old one closes each
   * connection behind its next answer and ends with its last. Once for each `since`.
   */
  seeOff(since: string): Promise<void> {
    return this.#serial.run(async () => {
      if (this.#closed || this.#proxy?.attached !== true || (await this.#launcher.seenOff()) === since) return
      const counters = (await this.#sample()) ?? new Map<number, FrontendCounters>()
      if ([...counters.values()].some(isUsed)) await this.#start()
      await this.#launcher.noteSeenOff(since)
    })
  }

  /**
   * Whether anybody is connected to it, or to a process that it replaced, or still waits for the end of an answer.
   * @param processes of all proxies, by configuration
   */
  isBusy(processes: ReadonlyMap<string, number>): Promise<boolean> {
    return this.#serial.run(async () => {
      if (this.#launcher.countOf(processes) > (this.#proxy === null ? 0 : 1)) return true
      const counters = (await this.#sample()) ?? new Map<number, FrontendCounters>()
      if ([...counters.values()].some(isUsed)) return true
      return this.#proxy !== null && (await closingSockets(this.#proxy.process.pid)) > 0
    })
  }

  /** Has a process replaced that runs another program than the one that is installed. */
  renew(): Promise<void> {
    return this.#serial.run(async () => {
      if (this.#closed || this.#proxy?.attached !== true) return
      if (await this.#launcher.isOutdated(this.#proxy)) await this.#start()
    })
  }

  /** Ends processes that were replaced. */
  endReplaced(): Promise<void> {
    return this.#serial.run(async () => {
      if (!this.#closed && this.#proxy !== null) await this.#launcher.endReplaced(this.#proxy)
    })
  }

  /** Traffic to the members of watched pools; a process that is gone has nothing to say. */
  traffic(): Promise<readonly MemberTraffic[]> {
    if (!this.#ledger.hasWatched) return Promise.resolve([])
    return this.#serial.run(async () => {
      const watched = this.#ledger.watched
      try {
        const counters = await this.#proxy?.serverCounters(watched.map(({ slot }) => slot))
        return watched.flatMap(({ key, slot, pool }) =>
          [...(counters?.get(slot) ?? [])].flatMap(([name, counted]) => {
            const memberId = pool.members[name]
            return memberId === undefined ? [] : [{ key, poolId: pool.poolId, memberId, ...counted }]
          }),
        )
      } catch (error) {
        if (error instanceof ProxyLost) return []
        throw error
      }
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
    this.#ledger = new Ledger(this.#given.options, saved)
    this.#counters = new ServiceCounters(proxy === null ? [] : saved.baselines)
    this.#proxy = proxy
  }

  async #apply(put: readonly RenderedEntry[], remove: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
    const outcomes = new Map<string, Outcome>()
    const moves = remove.filter((key) => this.#ledger.has(key)).map((key) => this.#ledger.moveTo(key, undefined))
    const revision = this.#ledger.revision
    for (const entry of put) {
      try {
        moves.push(this.#ledger.moveTo(entry.key, entry))
        outcomes.set(entry.key, null)
      } catch (error) {
        outcomes.set(entry.key, outcomeOf(error))
      }
    }
    try {
      const replace = this.#proxy === null || this.#ledger.revision !== revision
      const refused = replace ? await this.#restartWith(moves) : await this.#changeBy(moves)
      for (const [key, message] of refused) outcomes.set(key, { reason: 'ProxyRefused', message })
    } catch (error) {
      for (const { key } of moves) outcomes.set(key, outcomeOf(error))
    }
    this.#growLater()
    this.#sweepLater()
    return outcomes
  }

  /** A new process with everything as it shall be. @throws when it does not start; nothing has changed then */
  async #restartWith(moves: readonly Move[]): Promise<ReadonlyMap<string, string>> {
    const takeBack = this.#ledger.commitAll(moves)
    try {
      await this.#start()
    } catch (error) {
      takeBack()
      throw error
    }
    for (const move of moves) this.#forgetCounters(move)
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

  async #goBack(proxy: RunningProxy, move: Move): Promise<void> {
    const { raise, turn, lower } = planChanges(proxy.content, move.placedAfter, move.placedBefore)
    await this.#execute(proxy, [...raise, ...turn, ...lower])
    this.#drains.keep(move.placedBefore)
    this.#ledger.abandon(move)
  }

  #commit(move: Move): void {
    this.#ledger.commit(move)
    this.#drains.keep(move.placedAfter)
    this.#forgetCounters(move)
  }

  #forgetCounters({ before, after }: Move): void {
    const services = new Set(after?.frontends.map(({ service }) => service))
    for (const { service } of before?.frontends ?? []) if (!services.has(service)) this.#counters.forget(service)
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
    const { owners, placed, slots } = this.#ledger
    tidySlots(slots)
    this.#proxy = await this.#launcher.launch(slots, placed, replaced)
    this.#counters.restart(owners)
    this.#drains.clear()
    this.#given.count(replaced === null ? 'transaction' : 'reload')
    await this.#confirm()
    this.#startedAtMs = this.#given.clock.monotonicMs()
    // It may have died before it was ours to watch.
    if (!this.#proxy.attached) this.#recoverLater()
  }

  /** The connection to the process ended: the process as well, most likely. */
  #lost(proxy: RunningProxy): void {
    if (this.#proxy !== proxy || this.#closed) return
    this.#given.log.warn({ proxy: this.place.name, pid: proxy.process.pid }, 'proxy lost')
    this.#recoverLater()
  }

  #recoverLater(): void {
    const { clock, log } = this.#given
    this.#pauseMs = restartPauseMs(this.#pauseMs, clock.monotonicMs() - this.#startedAtMs)
    this.#startedAtMs = clock.monotonicMs()
    const recover = () => {
      const attempt = this.#serial.run(async () => {
        if (!this.#closed) await this.#recover()
      })
      attempt.catch((error) => {
        log.warn({ proxy: this.place.name, error: String(error) }, 'proxy did not start')
        if (!this.#closed) this.#recoverLater()
      })
    }
    this.#restart?.clear()
    this.#restart = clock.setTimer(recover, this.#pauseMs)
  }

  /** Makes the process be there again, with everything. */
  async #recover(): Promise<void> {
    const lost = this.#proxy
    if (lost !== null && !lost.attached) {
      if (!(await lost.endsWithin(DEATH_WITHIN_MS, this.#given.clock))) {
        this.#proxy = await this.#launcher.reattach(lost)
        await this.#changeBy(this.#ledger.rendered.map((entry) => this.#ledger.moveTo(entry.key, entry)))
        return
      }
      this.#proxy = null
    }
    if (this.#proxy === null) await this.#start()
  }

  #growLater(): void {
    const { frontends, backends } = this.#ledger.slots
    if (this.#growing || this.#closed || frontends.scarce().length + backends.scarce().length === 0) return
    this.#growing = true
    const growth = this.#serial.run(async () => {
      this.#growing = false
      if (this.#closed || this.#proxy === null) return
      const { revision, slots } = this.#ledger
      growScarce(slots)
      if (this.#ledger.revision !== revision) await this.#restartWith([])
    })
    growth.catch((error) =>
      this.#given.log.warn({ proxy: this.place.name, error: String(error) }, 'slots did not grow'),
    )
  }

  #sweepLater(): void {
    const { frontends, backends } = this.#ledger.slots
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
    const { frontends, backends } = this.#ledger.slots
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
    const slots = this.#ledger.confirm()
    if (this.#proxy !== null) await this.#launcher.save(this.#proxy, { ...slots, baselines: this.#counters.baselines })
  }

  #letGo(): void {
    this.#closed = true
    this.#restart?.clear()
    this.#sweep?.clear()
    this.#proxy?.detach()
    this.#proxy = null
  }
}

const isUsed = ({ current }: FrontendCounters): boolean => current > 0
