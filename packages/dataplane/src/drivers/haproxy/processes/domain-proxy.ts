import type { LoadBalancerEntry } from '@spout/model/node-state'
import { Mutex } from '@spout/runtime'
import { Supervisor } from '@spout/sys'
import type { MemberTraffic, PoolFigures } from '../../../contracts/driver.ts'
import { poolFigures } from '../commands/pool-figures.ts'
import type { FrontendCounters } from '../commands/show.ts'
import { ProxyLost } from '../commands/stats-socket.ts'
import type { ProxyConnections } from '../place/connection-share.ts'
import { listenOverflows } from '../place/listen-overflows.ts'
import type { ProxyMirrors } from '../place/mirror-share.ts'
import type { ProxyPlace } from '../place/proxy-place.ts'
import type { RenderedEntry } from '../rendering/render.ts'
import { applyEntries, pruneUnheld, recover } from './change-entries.ts'
import { CurrentProxy } from './current-proxy.ts'
import type { DomainProxyOptions } from './domain-proxy-options.ts'
import type { Outcome } from './outcome.ts'
import { PasswordChecker } from './password-checker.ts'
import { ProxyFeeds } from './proxy-feeds.ts'
import { ReadBack } from './read-back.ts'
import { closeGracefully, endReplaced, isBusy, renew } from './replacement.ts'
import type { RunningProxy } from './running-proxy.ts'
import { SlotUpkeep } from './slot-upkeep.ts'

/**
 * The proxy of one domain. Ordinary changes are commands to the running process. The process is replaced if slots of a
 * shape are lacking, and restarted if it dies. Operations run one at a time.
 */
export class DomainProxy {
  readonly #given: DomainProxyOptions
  readonly #mutex = new Mutex()
  readonly #current: CurrentProxy
  readonly #supervisor: Supervisor
  readonly #upkeep: SlotUpkeep
  readonly #passwords: PasswordChecker
  readonly #feeds: ProxyFeeds
  readonly #readBack: ReadBack

  private constructor(given: DomainProxyOptions) {
    const { clock, log, place } = given
    this.#given = given
    this.#supervisor = new Supervisor({
      name: `proxy ${place.name}`,
      log,
      clock,
      mutex: this.#mutex,
      start: () => recover(this.#current),
    })
    this.#current = new CurrentProxy(given, this.#supervisor)
    this.#upkeep = new SlotUpkeep(given, this.#current, this.#mutex)
    this.#passwords = new PasswordChecker(given, this.#mutex)
    this.#feeds = new ProxyFeeds(given, this.#current)
    this.#readBack = new ReadBack(this.#current)
  }

  /** Adopts what an earlier agent left in this place, if anything. */
  static open(given: DomainProxyOptions): DomainProxy {
    const proxy = new DomainProxy(given)
    const adopted = proxy.#mutex.run(async () => {
      await given.after?.catch(() => {})
      await proxy.#current.adopt()
      await proxy.#passwords.adopt()
    })
    adopted.catch((error) =>
      given.log.warn({ proxy: given.place.name, error: String(error) }, 'the proxy was not adopted'),
    )
    return proxy
  }

  get place(): ProxyPlace {
    return this.#given.place
  }

  get pid(): number | null {
    return this.#current.running?.process.pid ?? null
  }

  /** Keys of its entries. */
  get keys(): readonly string[] {
    return this.#current.assignments.keys
  }

  /** The local port of a service; null if it has none. */
  portOf(service: string): number | null {
    const slot = this.#current.assignments.frontendOf(service)
    return slot === undefined ? null : this.#given.options.firstPort + slot
  }

  /** Starts a process in advance, so that the first service does not wait for it. */
  prepare(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#current.running === null) await this.#current.start()
    })
  }

  /** Applies entries. Unchanged entries cost nothing. Never throws for an entry. */
  apply(put: readonly RenderedEntry[], remove: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
    return this.#mutex.run(async () => {
      const lacking = await this.#passwords.provide(put)
      const able = lacking.size === 0 ? put : put.filter(({ key }) => !lacking.has(key))
      const outcomes = new Map([...(await applyEntries(this.#current, able, remove)), ...lacking])
      this.#passwords.note(put, outcomes, remove)
      this.#upkeep.due()
      await this.#feeds.follow(put)
      return outcomes
    })
  }

  /** Removes slots and servers of an earlier agent that no entry holds. */
  prune(): Promise<void> {
    return this.#mutex.run(async () => {
      await pruneUnheld(this.#current)
      this.#passwords.forgetLater()
      this.#upkeep.due()
    })
  }

  /**
   * Keys of entries that differ in the process. Changes are made between the steps of it.
   * @param pressing when it aborts, nothing is found until the next call, which goes on
   */
  async observe(pressing?: AbortSignal): Promise<readonly string[]> {
    for (;;) {
      const lost = await this.#mutex.run(() => this.#readBack.step())
      if (lost !== null) return lost
      if (pressing?.aborted) return []
    }
  }

  /** Whether the last `observe` ended before it had looked at everything. */
  get observing(): boolean {
    return this.#readBack.isUnderWay
  }

  /** Counters by listener. */
  stats(): Promise<
    readonly { readonly entry: RenderedEntry; readonly service: string; readonly counters: FrontendCounters }[]
  > {
    return this.#mutex.run(async () => {
      await this.#current.sample()
      await this.#feeds.countDropped()
      const { assignments, counters } = this.#current
      return assignments.rendered.flatMap((entry) =>
        entry.frontends.flatMap(({ service }) => {
          const slot = assignments.frontendOf(service)
          return slot === undefined ? [] : [{ entry, service, counters: counters.of(service, slot) }]
        }),
      )
    })
  }

  /** Counters of the pools of an entry; empty for entries of other proxies. */
  poolFigures(entry: LoadBalancerEntry): Promise<readonly PoolFigures[]> {
    return this.#mutex.run(async () => {
      const backends = this.#current.assignments.backendsOf(entry.key)
      const counted = await this.#current.traffic(backends.map(({ slot }) => slot))
      const owned = backends.flatMap(({ owner, slot }) => {
        const traffic = counted.get(slot)
        return traffic === undefined ? [] : [{ owner, ...traffic }]
      })
      return poolFigures(entry, owned)
    })
  }

  /**
   * Replaces the process if it has clients: the old one closes each connection after its next response. Done once for
   * each `since`.
   */
  closeGracefully(since: string): Promise<void> {
    return this.#mutex.run(() => closeGracefully(this.#current, since))
  }

  /** @param processes counts of all proxies' processes by configuration file */
  isBusy(processes: ReadonlyMap<string, number>): Promise<boolean> {
    return this.#mutex.run(() => isBusy(this.#current, processes))
  }

  /** Replaces a process whose executable or limits are outdated. */
  renew(): Promise<void> {
    return this.#mutex.run(() => renew(this.#current))
  }

  /** Ends replaced processes. */
  endReplaced(): Promise<void> {
    return this.#mutex.run(() => endReplaced(this.#current))
  }

  /** Traffic to the members of watched pools; empty if the process died. */
  traffic(): Promise<readonly MemberTraffic[]> {
    if (!this.#current.assignments.hasWatched) return Promise.resolve([])
    return this.#mutex.run(async () => {
      const { assignments, running } = this.#current
      const watched = assignments.watched
      try {
        const counters = await running?.serverCounters(watched.map(({ slot }) => slot))
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

  /**
   * The connections of the process that accepts new ones; null if there is none. Does not wait for a change in
   * progress, since it only reads.
   */
  connections(): Promise<ProxyConnections | null> {
    return this.#ask(async (proxy) => {
      const counted = await proxy.connections()
      return counted && { ...counted, dropped: await listenOverflows(proxy.process.pid) }
    })
  }

  /** The copies of requests that the same process makes; null if there is none, or one that makes none. */
  mirrors(): Promise<ProxyMirrors | null> {
    return this.#ask((proxy) => proxy.mirrors())
  }

  async #ask<T>(question: (proxy: RunningProxy) => Promise<T>): Promise<T | null> {
    const proxy = this.#current.running
    if (proxy === null) return null
    try {
      return await question(proxy)
    } catch (error) {
      if (error instanceof ProxyLost) return null
      throw error
    }
  }

  /** Ends the process and removes all its files. */
  stop(): Promise<void> {
    return this.#mutex.run(async () => {
      this.#letGo()
      await this.#passwords.stop()
      await this.#current.launcher.stop()
    })
  }

  /** Releases the process for the next agent. */
  close(): Promise<void> {
    return this.#mutex.run(async () => this.#letGo())
  }

  #letGo(): void {
    this.#supervisor.close()
    this.#upkeep.close()
    this.#passwords.close()
    this.#feeds.close()
    this.#current.letGo()
  }
}
