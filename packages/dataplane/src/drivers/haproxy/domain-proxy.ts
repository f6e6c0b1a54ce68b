import type { LoadBalancerEntry } from '@spout/model/node-state'
import { Mutex } from '@spout/runtime'
import { Supervisor } from '@spout/sys'
import type { MemberTraffic, PoolFigures } from '../../contracts/driver.ts'
import { applyEntries, pruneUnheld, recover } from './change-entries.ts'
import { closingSockets } from './closing-sockets.ts'
import type { ProxyConnections } from './connection-share.ts'
import { CurrentProxy } from './current-proxy.ts'
import { listenOverflows } from './listen-overflows.ts'
import { type MetricsOf, MetricsSocket } from './metrics-socket.ts'
import type { ProxyMirrors } from './mirror-share.ts'
import type { Outcome } from './outcome.ts'
import { PasswordChecker } from './password-checker.ts'
import { disturbs, planChanges } from './plan-changes.ts'
import { poolFigures } from './pool-figures.ts'
import type { ProxyPlace } from './proxy-place.ts'
import { answersMetrics, type RenderedEntry, tellsRequests } from './render.ts'
import type { RunningProxy } from './running-proxy.ts'
import type { FrontendCounters } from './show.ts'
import { SlotUpkeep, type SlotUpkeepOptions } from './slot-upkeep.ts'
import { ProxyLost } from './stats-socket.ts'
import { type OnRequest, ToldRequests, type ToldRequestsOptions } from './told-requests.ts'

export interface DomainProxyOptions extends SlotUpkeepOptions {
  /** The stop of an earlier proxy of the same place. */
  readonly after?: Promise<void>
  /** Figures of load balancers, by a listener that answers with them. Default: none has. */
  readonly metricsOf?: MetricsOf
  /** Called with each finished request of listeners that log. Default: requests are not read. */
  readonly onRequest?: OnRequest
  readonly countLines: ToldRequestsOptions['count']
}

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
  #metrics: MetricsSocket | null = null
  #told: ToldRequests | null = null

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
      await this.#followMetrics(put)
      await this.#followRequests(put)
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

  /** Keys of entries that differ in the process. */
  observe(): Promise<readonly string[]> {
    return this.#mutex.run(async () => {
      const { assignments, running: proxy } = this.#current
      if (proxy === null) return this.keys
      try {
        await proxy.refresh()
      } catch (error) {
        if (error instanceof ProxyLost) return this.keys
        throw error
      }
      return this.keys.filter((key) => {
        const placed = assignments.placedOf(key)
        const differs = disturbs(planChanges(proxy.content, placed, placed))
        if (!differs) proxy.settle(placed)
        return differs
      })
    })
  }

  /** Counters by listener. */
  stats(): Promise<
    readonly { readonly entry: RenderedEntry; readonly service: string; readonly counters: FrontendCounters }[]
  > {
    return this.#mutex.run(async () => {
      await this.#current.sample()
      await this.#countDropped()
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
   * Replaces the process if it has clients. The new process accepts connections; the old one closes each connection
   * after its next response and exits with the last. Done once for each `since`.
   */
  closeGracefully(since: string): Promise<void> {
    return this.#mutex.run(async () => {
      const { closed, running, launcher } = this.#current
      if (closed || running?.attached !== true || (await launcher.lastDrain()) === since) return
      if (await this.#hasClients()) await this.#current.start()
      await launcher.noteDrain(since)
    })
  }

  /**
   * Whether the process or one that it replaced has clients, or a socket still sends the end of a response.
   * @param processes counts of all proxies' processes by configuration file
   */
  isBusy(processes: ReadonlyMap<string, number>): Promise<boolean> {
    return this.#mutex.run(async () => {
      const { running, launcher } = this.#current
      if (launcher.countOf(processes) > (running === null ? 0 : 1)) return true
      if (await this.#hasClients()) return true
      return running !== null && (await closingSockets(running.process.pid)) > 0
    })
  }

  /** Replaces a process whose executable or limits are outdated. */
  renew(): Promise<void> {
    return this.#mutex.run(async () => {
      const { closed, running, launcher } = this.#current
      if (closed || running?.attached !== true) return
      if (await launcher.isOutdated(running)) await this.#current.start()
    })
  }

  /** Ends replaced processes. */
  endReplaced(): Promise<void> {
    return this.#mutex.run(async () => {
      const { closed, running, launcher } = this.#current
      if (!closed && running !== null) await launcher.endReplaced(running)
    })
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

  /** Listens for requests for figures while a listener answers with them. Without the socket it answers 503. */
  async #followMetrics(put: readonly RenderedEntry[]): Promise<void> {
    const { metricsOf, uid, log, place } = this.#given
    const { assignments, launcher } = this.#current
    if (this.#metrics !== null) {
      if (assignments.hasMetrics) return
      this.#metrics.close()
      this.#metrics = null
    } else if (metricsOf !== undefined && put.some(answersMetrics))
      try {
        this.#metrics = await MetricsSocket.listen(launcher.metricsSocket, uid, async (listenerId) =>
          this.portOf(listenerId) === null ? null : metricsOf(listenerId),
        )
      } catch (error) {
        log.warn({ proxy: place.name, error: String(error) }, 'requests for figures cannot be answered')
      }
  }

  /**
   * Reads the log lines of the processes while a listener wants them. Never waits: lines that have no room are dropped.
   */
  async #followRequests(put: readonly RenderedEntry[]): Promise<void> {
    const { onRequest, countLines: count, clock, options, log, place } = this.#given
    const { assignments, launcher } = this.#current
    if (this.#told !== null) {
      if (assignments.hasLines) return
      this.#told.close()
      this.#told = null
    } else if (onRequest !== undefined && put.some(tellsRequests))
      try {
        this.#told = await ToldRequests.listen(launcher.lines, {
          linesPerSecond: options.linesPerSecond,
          clock,
          onRequest,
          count,
          poolOf: (slot) => poolOfOwner(assignments.slots.backends.ownerOf(slot)),
        })
        await this.#countDropped()
      } catch (error) {
        log.warn({ proxy: place.name, error: String(error) }, 'requests cannot be logged or timed')
      }
  }

  async #countDropped(): Promise<void> {
    const { running: proxy } = this.#current
    if (this.#told === null || proxy === null) return
    try {
      const counted = await proxy.connections()
      if (counted !== null) this.#told.dropped(proxy.generation, counted.droppedLines)
    } catch (error) {
      if (!(error instanceof ProxyLost)) throw error
    }
  }

  async #hasClients(): Promise<boolean> {
    const counters = await this.#current.sample()
    return counters !== null && [...counters.values()].some(({ current }) => current > 0)
  }

  #letGo(): void {
    this.#supervisor.close()
    this.#upkeep.close()
    this.#passwords.close()
    this.#metrics?.close()
    this.#metrics = null
    this.#told?.close()
    this.#told = null
    this.#current.letGo()
  }
}

/** `NodePool.number` of `RenderedBackend.owner`. */
const poolOfOwner = (owner: string | null): number | null => {
  const number = /^p([0-9]+)\//.exec(owner ?? '')?.[1]
  return number === undefined ? null : Number(number)
}
