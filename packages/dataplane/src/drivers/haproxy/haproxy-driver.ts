import type { DomainEntry, LoadBalancerEntry, ResponseCounts, ServiceStats } from '@spout/model'
import { RESPONSE_CLASSES } from '@spout/model/node-report'
import { isProxied } from '@spout/model/protocols'
import { type Clock, systemClock, type Timer } from '@spout/runtime'
import type { Log } from '@spout/sys'
import type {
  Applied,
  DataPlaneDriver,
  Feature,
  MemberTraffic,
  PoolFigures,
  ProxyPort,
  WantedEntry,
} from '../../contracts/driver.ts'
import type { ProxyConnections } from './connection-share.ts'
import { DedicatedSeats, optionsIn, proxyNameOf, sharedProxyName } from './dedicated-seats.ts'
import { DomainProxy } from './domain-proxy.ts'
import { KnownRoutes } from './known-routes.ts'
import { endLeftProxies } from './left-proxies.ts'
import type { MetricsOf } from './metrics-socket.ts'
import type { ProxyMirrors } from './mirror-share.ts'
import { DEFAULT_OPTIONS, type HaproxyOptions } from './options.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import type { ProxyHost } from './proxy-host.ts'
import type { ProxyPlace } from './proxy-place.ts'
import { processesByConfig } from './proxy-process.ts'
import { type RenderedEntry, renderEntry } from './render.ts'
import type { FrontendCounters } from './show.ts'
import { SlotsExhausted } from './slot-table.ts'
import type { LineCounts, OnRequest } from './told-requests.ts'

export interface HaproxyDriverOptions {
  /** The place of a domain's proxy. The domain must exist before its first proxied service. */
  readonly place: (domain: DomainEntry) => ProxyPlace
  readonly host: ProxyHost
  readonly log: Log
  /** Figures of load balancers, by a listener that answers with them. Default: no listener does. */
  readonly metricsOf?: MetricsOf
  /** Is told of the requests of listeners that count how long these take. Default: none can. */
  readonly onRequest?: OnRequest
  /** Whether who is told of requests writes access logs. Default: not. */
  readonly accessLogs?: boolean
  readonly clock?: Clock
  readonly options?: Partial<HaproxyOptions>
}

const FEATURES: readonly Feature[] = [
  'l7.client-certificates',
  'l7.client-certificates.crl',
  'l7.cookies',
  'l7.dedicated-proxy',
  'l7.http',
  'l7.https',
  'l7.pool-tls',
  'l7.pool-tls.crl',
  'l7.proxy-protocol',
  'l7.routes',
  'l7.routes.timeouts',
  'l7.tcp-proxy',
  'l7.tls-ciphers',
]
const WITH_LUA: readonly Feature[] = [
  'l7.application-cookies',
  'l7.routes.filters',
  'l7.routes.mirrors',
  'l7.routes.retries',
  'l7.routes.tests',
  'l7.tls-passthrough',
]

/** A proxy of a domain. */
interface OpenProxy {
  readonly domain: number
  readonly proxy: DomainProxy
}

/** What an `apply` changes in one proxy. */
interface Work {
  /** An entry that it carries; null if it only loses some. */
  wanted: WantedEntry | null
  readonly put: RenderedEntry[]
  readonly remove: string[]
}

/** Serves proxied protocols with one HAProxy process per domain, and one per load balancer with its own. */
export class HaproxyDriver implements DataPlaneDriver<RenderedEntry> {
  readonly name = 'haproxy'
  readonly features: ReadonlySet<Feature>
  readonly #given: HaproxyDriverOptions
  readonly #options: HaproxyOptions
  readonly #clock: Clock
  readonly #counters = { transactions: 0, reloads: 0 }
  readonly #lines = { read: 0, dropped: 0, ignored: 0 }
  /** By name (`proxyNameOf`). */
  readonly #proxies = new Map<string, OpenProxy>()
  readonly #seats = new DedicatedSeats()
  readonly #routes = new KnownRoutes()
  /** The wanted entries, by key. */
  readonly #held = new Map<string, RenderedEntry>()
  /** Listener id -> name of its proxy. */
  readonly #proxyOfService = new Map<string, string>()
  /** Proxies without entries that will be stopped, by name. */
  readonly #idle = new Map<string, Timer>()
  /** Proxies that are being stopped, by name. A new one waits for them. */
  readonly #stopping = new Map<string, Promise<void>>()
  /** Whether the next `apply` removes what belongs to no entry of `adopt`. */
  #prune = false

  constructor(given: HaproxyDriverOptions) {
    this.#given = given
    this.#options = { ...DEFAULT_OPTIONS, ...given.options }
    this.features = new Set([
      ...FEATURES,
      ...(this.#options.lua ? WITH_LUA : []),
      ...(given.metricsOf === undefined ? [] : ['l7.metrics']),
      ...(given.onRequest === undefined ? [] : ['l7.latencies']),
      ...(given.onRequest !== undefined && given.accessLogs ? ['l7.access-log'] : []),
    ])
    this.#clock = given.clock ?? systemClock
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    return { ...this.#counters }
  }

  /** Lines of requests since the agent started. */
  get lines(): LineCounts {
    return { ...this.#lines }
  }

  render(wanted: WantedEntry): RenderedEntry {
    return renderEntry(wanted, (...routes) => this.#routes.render(...routes))
  }

  /** Starts the shared proxy of a domain before its first service, which then takes milliseconds. */
  async startDomain(domain: DomainEntry): Promise<void> {
    const name = sharedProxyName(domain.number)
    await this.#open(name, domain.number, () => this.#given.place(domain)).prepare()
    this.#stopIfIdle(name)
  }

  /** Ends the proxies of a domain that is removed. */
  async stopDomain(number: number): Promise<void> {
    const names = [...this.#proxies].flatMap(([name, { domain }]) => (domain === number ? [name] : []))
    await Promise.all(names.map((name) => this.#stop(name)))
  }

  async #stop(name: string): Promise<void> {
    this.#idle.get(name)?.clear()
    this.#idle.delete(name)
    const { proxy } = this.#proxies.get(name) ?? {}
    if (proxy === undefined) return
    this.#proxies.delete(name)
    for (const key of proxy.keys) this.#forget(key)
    const stopping = proxy.stop()
    this.#stopping.set(name, stopping)
    await stopping
    if (this.#stopping.get(name) === stopping) this.#stopping.delete(name)
    if (!this.#proxies.has(name)) this.#seats.free(proxy.place.name)
  }

  /** The proxy's port for a service; null if it does not serve it. The port stays the same while it is served. */
  proxyPort(serviceId: string): ProxyPort | null {
    const name = this.#proxyOfService.get(serviceId) ?? ''
    const port = this.#proxies.get(name)?.proxy.portOf(serviceId) ?? null
    return port === null ? null : { port }
  }

  proxyPorts({ services }: LoadBalancerEntry): ReadonlyMap<string, ProxyPort> {
    return new Map(
      services.flatMap(({ id }) => {
        const port = this.proxyPort(id)
        return port === null ? [] : [[id, port] as const]
      }),
    )
  }

  /**
   * Asks connected clients to reconnect, since their address moved to another node. A proxy that fails stops no other.
   * @param domains limits this to the proxies of these domains, here and below; default all
   */
  async closeGracefully(since: string, domains?: ReadonlySet<number>): Promise<void> {
    // One after another, since a start costs as much as a thousand requests.
    for (const proxy of this.#proxiesOf(domains)) await this.#attempt(proxy, () => proxy.closeGracefully(since))
  }

  /** Counts proxies that have clients, also in processes that were replaced. */
  async busy(domains?: ReadonlySet<number>): Promise<number> {
    const proxies = this.#proxiesOf(domains)
    if (proxies.length === 0) return 0
    const processes = await processesByConfig()
    const busy = await Promise.all(proxies.map((proxy) => proxy.isBusy(processes)))
    return busy.filter(Boolean).length
  }

  /** Ends processes that were replaced and still have clients. */
  async closeRemaining(domains?: ReadonlySet<number>): Promise<void> {
    for (const proxy of this.#proxiesOf(domains)) await this.#attempt(proxy, () => proxy.endReplaced())
  }

  #proxiesOf(domains?: ReadonlySet<number>): readonly DomainProxy[] {
    return [...this.#proxies.values()].flatMap(({ domain, proxy }) => (domains?.has(domain) === false ? [] : [proxy]))
  }

  async #attempt({ place }: DomainProxy, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#given.log.warn({ proxy: place.name, error: String(error) }, 'a proxy was not replaced')
    }
  }

  async adopt(previous: readonly WantedEntry[]): Promise<void> {
    await this.apply({ put: previous, remove: [] })
    this.#prune = true
    for (const proxy of this.#proxiesOf()) await this.#attempt(proxy, () => proxy.renew())
  }

  async apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    await this.#seats.learn(this.#options.runDirectory)
    const work = new Map<string, Work>()
    const workOf = (name: string): Work => {
      const one = work.get(name) ?? { wanted: null, put: [], remove: [] }
      work.set(name, one)
      return one
    }
    const removeFrom = (key: string, name: string | undefined): void => {
      if (name !== undefined) workOf(name).remove.push(key)
    }
    const refused: Applied[] = []
    for (const wanted of changes.put) {
      const { key, domain, entry } = wanted
      const held = this.#proxyNameOf(key)
      const name = proxyNameOf({ ...entry, domain: domain.number, loadBalancerId: entry.id })
      if (!hasProxied(wanted) || (held !== undefined && held !== name)) removeFrom(key, held)
      if (!hasProxied(wanted)) continue
      try {
        const rendered = this.render(wanted)
        this.#placeOf(wanted)
        const one = workOf(name)
        one.wanted = wanted
        one.put.push(rendered)
      } catch (error) {
        refused.push(applied(key, refusalOf(error)))
      }
    }
    for (const key of changes.remove) removeFrom(key, this.#proxyNameOf(key))
    const prune = this.#prune
    this.#prune = false
    const done = await Promise.all([...work].map(([name, one]) => this.#applyTo(name, one)))
    if (prune) await this.#pruneAll()
    return [...done.flat(), ...refused]
  }

  async observe(): Promise<readonly string[]> {
    return (await Promise.all(this.#proxiesOf().map((proxy) => proxy.observe()))).flat()
  }

  async stats(): Promise<readonly ServiceStats[]> {
    const rows = await Promise.all(this.#proxiesOf().map((proxy) => proxy.stats()))
    return rows.flat().map(({ entry, service, counters }) => ({
      loadBalancerId: entry.loadBalancerId,
      listenerId: service,
      bytesIn: counters.bytesIn,
      bytesOut: counters.bytesOut,
      activeConnections: counters.current,
      totalConnections: counters.total,
      requestErrors: counters.requestErrors,
      ...httpOf(entry, service, counters),
    }))
  }

  async poolFigures(entry: LoadBalancerEntry): Promise<readonly PoolFigures[]> {
    return (
      (await this.#proxies.get(proxyNameOf({ ...entry, loadBalancerId: entry.id }))?.proxy.poolFigures(entry)) ?? []
    )
  }

  async traffic(): Promise<readonly MemberTraffic[]> {
    return (await Promise.all(this.#proxiesOf().map((proxy) => proxy.traffic()))).flat()
  }

  /** Where a domain's proxies run. */
  placesOf(domain: number): readonly ProxyPlace[] {
    return this.#proxiesOf(new Set([domain])).map(({ place }) => place)
  }

  /** How many proxies it has. */
  proxyCounts(): { readonly shared: number; readonly dedicated: number } {
    const all = this.#proxiesOf()
    const dedicated = all.filter(({ place }) => place.dedicated !== undefined).length
    return { shared: all.length - dedicated, dedicated }
  }

  /** The connections of a domain's shared proxy, or of a load balancer's own; null if there is none. */
  async connections(domain: number, loadBalancerId?: string): Promise<ProxyConnections | null> {
    return (await this.#proxyOf(domain, loadBalancerId)?.connections()) ?? null
  }

  /** The copies of requests that such a proxy makes; null if there is none, or one without Lua. */
  async mirrors(domain: number, loadBalancerId?: string): Promise<ProxyMirrors | null> {
    return (await this.#proxyOf(domain, loadBalancerId)?.mirrors()) ?? null
  }

  #proxyOf(domain: number, loadBalancerId: string | undefined): DomainProxy | undefined {
    return this.#proxiesOf(new Set([domain])).find(({ place }) => place.dedicated?.loadBalancerId === loadBalancerId)
  }

  /** The proxies continue, and the next agent adopts them. */
  async close(): Promise<void> {
    for (const timer of this.#idle.values()) timer.clear()
    await Promise.all(this.#proxiesOf().map((proxy) => proxy.close()))
  }

  async #applyTo(name: string, { wanted, put, remove }: Work): Promise<readonly Applied[]> {
    const proxy =
      wanted === null
        ? this.#proxies.get(name)?.proxy
        : this.#open(name, wanted.domain.number, () => this.#placeOf(wanted))
    if (proxy === undefined) return []
    const outcomes = await proxy.apply(put, remove)
    for (const key of remove) if (this.#proxyNameOf(key) === name) this.#forget(key)
    for (const entry of put) this.#hold(entry)
    this.#stopIfIdle(name)
    const removed = remove.filter((key) => !outcomes.has(key)).map((key) => applied(key, null))
    return [...[...outcomes].map(([key, outcome]) => applied(key, outcome)), ...removed]
  }

  /** The proxy that has an entry now. */
  #proxyNameOf(key: string): string | undefined {
    const held = this.#held.get(key)
    return held && proxyNameOf(held)
  }

  #hold(entry: RenderedEntry): void {
    this.#forget(entry.key, entry)
    this.#held.set(entry.key, entry)
    for (const { service } of entry.frontends) this.#proxyOfService.set(service, proxyNameOf(entry))
  }

  /** @param next its next version, whose routes are rendered from the last ones */
  #forget(key: string, next?: RenderedEntry): void {
    const kept = new Set(next?.frontends.map(({ service }) => service))
    for (const { service } of this.#held.get(key)?.frontends ?? []) {
      this.#proxyOfService.delete(service)
      if (!kept.has(service)) this.#routes.forget(service)
    }
    this.#held.delete(key)
  }

  /** @throws SlotsExhausted */
  #placeOf({ domain, entry }: WantedEntry): ProxyPlace {
    const shared = this.#given.place(domain)
    return entry.dedicatedProxy === undefined ? shared : this.#seats.take(shared, entry.id, entry.dedicatedProxy)
  }

  #open(name: string, domain: number, placeOf: () => ProxyPlace): DomainProxy {
    this.#idle.get(name)?.clear()
    this.#idle.delete(name)
    const proxy = this.#proxies.get(name)?.proxy ?? this.#make(name, domain, placeOf())
    this.#proxies.set(name, { domain, proxy })
    return proxy
  }

  #make(name: string, domain: number, place: ProxyPlace): DomainProxy {
    const { metricsOf, onRequest } = this.#given
    return DomainProxy.open({
      ...(metricsOf === undefined ? {} : { metricsOf }),
      ...(onRequest === undefined ? {} : { onRequest }),
      place,
      after: this.#stopping.get(name),
      uid: this.#options.firstUid + domain,
      host: this.#given.host,
      options: optionsIn(place, this.#options),
      clock: this.#clock,
      log: this.#given.log,
      countLines: (what, lines) => {
        this.#lines[what] += lines
      },
      count: (what) => this.#counters[what === 'reload' ? 'reloads' : 'transactions']++,
    })
  }

  #stopIfIdle(name: string): void {
    if (this.#idle.has(name) || (this.#proxies.get(name)?.proxy.keys.length ?? 1) > 0) return
    const stop = async (): Promise<void> => {
      try {
        if (this.#proxies.get(name)?.proxy.keys.length === 0) await this.#stop(name)
      } catch (error) {
        this.#given.log.warn({ proxy: name, error: String(error) }, 'an idle proxy did not stop')
      }
    }
    this.#idle.set(
      name,
      this.#clock.setTimer(() => void stop(), this.#options.graceMs),
    )
  }

  async #pruneAll(): Promise<void> {
    const proxies = this.#proxiesOf()
    await Promise.all(proxies.map((proxy) => proxy.prune()))
    const known = new Set(proxies.map(({ place }) => place.name))
    await endLeftProxies(this.#options.runDirectory, known, this.#given.host)
    this.#seats.keep(new Set(this.#proxiesOf().map(({ place }) => place.name)))
  }
}

/** What was counted of a listener's requests; nothing of one that reads none. */
function httpOf(
  { frontends }: RenderedEntry,
  listenerId: string,
  counters: FrontendCounters,
): Pick<ServiceStats, 'http'> {
  if (frontends.find(({ service }) => service === listenerId)?.shape.mode !== 'http') return {}
  const responses = Object.fromEntries(RESPONSE_CLASSES.map((each) => [each, counters[each]])) as ResponseCounts
  return { http: { requests: counters.requests, responses } }
}

const refusalOf = (error: unknown): Outcome =>
  error instanceof SlotsExhausted ? outcomeOf(error) : { reason: 'EntryRefused', message: String(error) }

const hasProxied = ({ entry }: WantedEntry): boolean => entry.services.some(({ protocol }) => isProxied(protocol))

const applied = (key: string, outcome: Outcome): Applied =>
  outcome === null
    ? { key, state: 'programmed', reason: null, message: null }
    : { key, state: 'failed', reason: outcome.reason, message: outcome.message }
