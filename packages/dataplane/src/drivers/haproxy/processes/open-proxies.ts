import type { DomainEntry } from '@spout/model'
import type { Clock, Timer } from '@spout/runtime'
import type { Log } from '@spout/sys'
import type { ProxyPlace } from '../place/proxy-place.ts'
import { DedicatedSeats } from '../rendering/dedicated-seats.ts'
import type { RenderedEntry } from '../rendering/render.ts'
import type { HaproxyOptions } from '../sections/options.ts'

/** What the registry needs of a proxy. */
export interface OpenableProxy {
  readonly place: ProxyPlace
  /** Keys of its entries. Without any it is idle. */
  readonly keys: readonly string[]
  /** Ends the process. */
  stop(): Promise<void>
  /** Lets go of the process, which continues. */
  close(): Promise<void>
}

export interface OpenProxiesOptions<Proxy extends OpenableProxy> {
  /** The place of a domain's shared proxy. */
  readonly place: (domain: DomainEntry) => ProxyPlace
  /** @param after the stop of an earlier proxy of the same name, if it is under way */
  readonly make: (place: ProxyPlace, domain: number, after: Promise<void> | undefined) => Proxy
  readonly options: Pick<HaproxyOptions, 'graceMs' | 'runDirectory'>
  readonly clock: Clock
  readonly log: Log
}

/** Names a proxy, and where it runs if it must be opened. */
export interface WantedProxy {
  /** `proxyNameOf`. */
  readonly name: string
  readonly domain: DomainEntry
  /** Set for a load balancer with a proxy of its own. */
  readonly dedicated?: Pick<RenderedEntry, 'loadBalancerId' | 'dedicatedProxy'>
}

/**
 * The proxies that run for this node's domains, by name. A proxy is opened when it is first needed and stopped when it has
 * had no entry for `graceMs`. A new one of the same name waits for the stop. Each dedicated proxy has a seat until it is
 * stopped.
 */
export class OpenProxies<Proxy extends OpenableProxy> {
  readonly #given: OpenProxiesOptions<Proxy>
  readonly #open = new Map<string, { readonly domain: number; readonly proxy: Proxy }>()
  readonly #seats = new DedicatedSeats()
  /** Timers of proxies without entries. */
  readonly #idle = new Map<string, Timer>()
  readonly #stopping = new Map<string, Promise<void>>()

  constructor(given: OpenProxiesOptions<Proxy>) {
    this.#given = given
  }

  /** Learns, once, which seats the proxies of an earlier agent have. Comes before the first `placeOf`. */
  learnSeats(): Promise<void> {
    return this.#seats.learn(this.#given.options.runDirectory)
  }

  /** Reserves the seat of a dedicated proxy. @throws SlotsExhausted if the domain has none left */
  placeOf({ domain, dedicated }: WantedProxy): ProxyPlace {
    const shared = this.#given.place(domain)
    if (dedicated?.dedicatedProxy === undefined) return shared
    return this.#seats.take(shared, dedicated.loadBalancerId, dedicated.dedicatedProxy)
  }

  /**
   * The proxy of that name; opens it if necessary. It does not count as idle until `stopIfIdle`.
   * @throws SlotsExhausted
   */
  open(wantedProxy: WantedProxy): Proxy {
    const { name, domain } = wantedProxy
    this.#keep(name)
    const proxy = this.get(name) ?? this.#given.make(this.placeOf(wantedProxy), domain.number, this.#stopping.get(name))
    this.#open.set(name, { domain: domain.number, proxy })
    return proxy
  }

  get(name: string): Proxy | undefined {
    return this.#open.get(name)?.proxy
  }

  /** @param domains limits this to the proxies of these domains; default all */
  all(domains?: ReadonlySet<number>): readonly Proxy[] {
    return [...this.#open.values()].flatMap(({ domain, proxy }) => (domains?.has(domain) === false ? [] : [proxy]))
  }

  /** Stops the proxy after the grace time, if it has no entry then. */
  stopIfIdle(name: string): void {
    if (this.#idle.has(name) || (this.get(name)?.keys.length ?? 1) > 0) return
    const { clock, log, options } = this.#given
    const stop = async (): Promise<void> => {
      try {
        if (this.get(name)?.keys.length === 0) await this.#stop(name)
      } catch (error) {
        log.warn({ proxy: name, error: String(error) }, 'an idle proxy did not stop')
      }
    }
    this.#idle.set(
      name,
      clock.setTimer(() => void stop(), options.graceMs),
    )
  }

  /** Stops the proxies of a domain, whatever entries they have. */
  async stopDomain(number: number): Promise<void> {
    const names = [...this.#open].flatMap(([name, { domain }]) => (domain === number ? [name] : []))
    await Promise.all(names.map((name) => this.#stop(name)))
  }

  /** Frees the seats of proxies that are not open. */
  freeOtherSeats(): void {
    this.#seats.keep(new Set(this.all().map(({ place }) => place.name)))
  }

  async close(): Promise<void> {
    for (const timer of this.#idle.values()) timer.clear()
    await Promise.all(this.all().map((proxy) => proxy.close()))
  }

  async #stop(name: string): Promise<void> {
    this.#keep(name)
    const proxy = this.get(name)
    if (proxy === undefined) return
    this.#open.delete(name)
    const stopping = proxy.stop()
    this.#stopping.set(name, stopping)
    await stopping
    if (this.#stopping.get(name) === stopping) this.#stopping.delete(name)
    if (!this.#open.has(name)) this.#seats.free(proxy.place.name)
  }

  #keep(name: string): void {
    this.#idle.get(name)?.clear()
    this.#idle.delete(name)
  }
}
