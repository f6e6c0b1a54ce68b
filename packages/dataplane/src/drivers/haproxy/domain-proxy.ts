import { Mutex } from '@spout/runtime'
import type { MemberTraffic } from '../../contracts/driver.ts'
import { applyEntries, pruneUnheld, recover } from './change-entries.ts'
import { closingSockets } from './closing-sockets.ts'
import type { ProxyConnections } from './connection-share.ts'
import { CurrentProxy, type CurrentProxyOptions } from './current-proxy.ts'
import { listenOverflows } from './listen-overflows.ts'
import type { Outcome } from './outcome.ts'
import { disturbs, planChanges } from './plan-changes.ts'
import type { ProxyPlace } from './proxy-place.ts'
import { Recovery } from './recovery.ts'
import type { RenderedEntry } from './render.ts'
import type { FrontendCounters } from './show.ts'
import { SlotUpkeep } from './slot-upkeep.ts'
import { ProxyLost } from './stats-socket.ts'

export interface DomainProxyOptions extends CurrentProxyOptions {
  /** A proxy of the same place that is being stopped. */
  readonly after?: Promise<void>
}

/**
 * The proxy of one domain: which entries it carries in which slots. Ordinary changes go to the running process; it is
 * replaced when slots of a shape are lacking, and started again when it dies. One thing at a time.
 */
export class DomainProxy {
  readonly #given: DomainProxyOptions
  readonly #mutex = new Mutex()
  readonly #current: CurrentProxy
  readonly #recovery: Recovery
  readonly #upkeep: SlotUpkeep

  private constructor(given: DomainProxyOptions) {
    const { clock, log, place } = given
    this.#given = given
    this.#current = new CurrentProxy(given, {
      onStart: () => this.#recovery.started(),
      onLost: () => this.#recovery.later(),
    })
    this.#recovery = new Recovery({
      clock,
      recover: () =>
        this.#mutex.run(async () => {
          if (!this.#current.closed) await recover(this.#current)
        }),
      onFailure: (error) => log.warn({ proxy: place.name, error: String(error) }, 'proxy did not start'),
    })
    this.#upkeep = new SlotUpkeep(given, this.#current, this.#mutex)
  }

  /** Begins with what an earlier agent left in this place, if anything. */
  static open(given: DomainProxyOptions): DomainProxy {
    const proxy = new DomainProxy(given)
    const adopted = proxy.#mutex.run(async () => {
      await given.after?.catch(() => {})
      await proxy.#current.adopt()
    })
    adopted.catch((error) => given.log.warn({ proxy: given.place.name, error: String(error) }, 'proxy not adopted'))
    return proxy
  }

  get place(): ProxyPlace {
    return this.#given.place
  }

  get pid(): number | null {
    return this.#current.running?.process.pid ?? null
  }

  /** Entries that it carries. */
  get keys(): readonly string[] {
    return this.#current.assignments.keys
  }

  /** The local port of a service; null while it has none. */
  portOf(service: string): number | null {
    const slot = this.#current.assignments.frontendOf(service)
    return slot === undefined ? null : this.#given.options.firstPort + slot
  }

  /** Has a process running, so that the first service does not wait for its start. */
  prepare(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#current.running === null) await this.#current.start()
    })
  }

  /** Makes entries what they shall be; what is so already costs nothing. Never throws for an entry. */
  apply(put: readonly RenderedEntry[], remove: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
    return this.#mutex.run(async () => {
      const outcomes = await applyEntries(this.#current, put, remove)
      this.#upkeep.due()
      return outcomes
    })
  }

  /** Gives up what no entry holds: slots and servers that an earlier agent left. */
  prune(): Promise<void> {
    return this.#mutex.run(() => pruneUnheld(this.#current))
  }

  /** Keys of entries that the process does not hold as it should. */
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
        return disturbs(planChanges(proxy.content, placed, placed))
      })
    })
  }

  /** Counters by listener. */
  stats(): Promise<
    readonly { readonly entry: RenderedEntry; readonly service: string; readonly counters: FrontendCounters }[]
  > {
    return this.#mutex.run(async () => {
      await this.#current.sample()
      const { assignments, counters } = this.#current
      return assignments.rendered.flatMap((entry) =>
        entry.frontends.flatMap(({ service }) => {
          const slot = assignments.frontendOf(service)
          return slot === undefined ? [] : [{ entry, service, counters: counters.of(service, slot) }]
        }),
      )
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

  /** Has a process replaced that runs another program than the one that is installed, or with other bounds. */
  renew(): Promise<void> {
    return this.#mutex.run(async () => {
      const { closed, running, launcher } = this.#current
      if (closed || running?.attached !== true) return
      if (await launcher.isOutdated(running)) await this.#current.start()
    })
  }

  /** Ends processes that were replaced. */
  endReplaced(): Promise<void> {
    return this.#mutex.run(async () => {
      const { closed, running, launcher } = this.#current
      if (!closed && running !== null) await launcher.endReplaced(running)
    })
  }

  /** Traffic to the members of watched pools; a process that is gone has nothing to say. */
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
   * How the process that takes new connections stands with them; null while there is none. Waits for no change that is
   * under way: it reads from the process alone.
   */
  async connections(): Promise<ProxyConnections | null> {
    const proxy = this.#current.running
    if (proxy === null) return null
    try {
      const counted = await proxy.connections()
      return counted && { ...counted, dropped: await listenOverflows(proxy.process.pid) }
    } catch (error) {
      if (error instanceof ProxyLost) return null
      throw error
    }
  }

  /** Ends the process and removes everything it had. */
  stop(): Promise<void> {
    return this.#mutex.run(async () => {
      this.#letGo()
      await this.#current.launcher.stop()
    })
  }

  /** Lets the process live on for the next agent. */
  close(): Promise<void> {
    return this.#mutex.run(async () => this.#letGo())
  }

  async #hasClients(): Promise<boolean> {
    const counters = await this.#current.sample()
    return counters !== null && [...counters.values()].some(({ current }) => current > 0)
  }

  #letGo(): void {
    this.#recovery.close()
    this.#upkeep.close()
    this.#current.letGo()
  }
}
