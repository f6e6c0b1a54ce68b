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
import { DomainProxy } from './domain-proxy.ts'
import { KnownRoutes } from './known-routes.ts'
import { endLeftProxies } from './left-proxies.ts'
import type { MetricsOf } from './metrics-socket.ts'
import { DEFAULT_OPTIONS, type HaproxyOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { ProxyHost } from './proxy-host.ts'
import type { ProxyPlace } from './proxy-place.ts'
import { processesByConfig } from './proxy-process.ts'
import { type RenderedEntry, renderEntry } from './render.ts'
import type { FrontendCounters } from './show.ts'

export interface HaproxyDriverOptions {
  /** The place of a domain's proxy. The domain must exist before its first proxied service. */
  readonly place: (domain: DomainEntry) => ProxyPlace
  readonly host: ProxyHost
  readonly log: Log
  /** Figures of load balancers, by a listener that answers with them. Default: no listener does. */
  readonly metricsOf?: MetricsOf
  readonly clock?: Clock
  readonly options?: Partial<HaproxyOptions>
}

const FEATURES: readonly Feature[] = [
  'l7.client-certificates',
  'l7.client-certificates.crl',
  'l7.cookies',
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
  'l7.routes.retries',
  'l7.routes.tests',
]

/** Serves protocols `http` and `tcp-proxy` with one HAProxy process per domain. */
export class HaproxyDriver implements DataPlaneDriver<RenderedEntry> {
  readonly name = 'haproxy'
  readonly features: ReadonlySet<Feature>
  readonly #given: HaproxyDriverOptions
  readonly #options: HaproxyOptions
  readonly #clock: Clock
  readonly #counters = { transactions: 0, reloads: 0 }
  readonly #proxies = new Map<number, DomainProxy>()
  readonly #routes = new KnownRoutes()
  /** The wanted entries, by key. */
  readonly #held = new Map<string, RenderedEntry>()
  /** Listener id -> domain number. */
  readonly #domainOfService = new Map<string, number>()
  /** Proxies without entries that will be stopped, by domain number. */
  readonly #idle = new Map<number, Timer>()
  /** Proxies that are being stopped, by domain number. A new one waits for them. */
  readonly #stopping = new Map<number, Promise<void>>()
  /** Whether the next `apply` removes what belongs to no entry of `adopt`. */
  #prune = false

  constructor(given: HaproxyDriverOptions) {
    this.#given = given
    this.#options = { ...DEFAULT_OPTIONS, ...given.options }
    this.features = new Set([
      ...FEATURES,
      ...(this.#options.lua ? WITH_LUA : []),
      ...(given.metricsOf === undefined ? [] : ['l7.metrics']),
    ])
    this.#clock = given.clock ?? systemClock
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    return { ...this.#counters }
  }

  render(wanted: WantedEntry): RenderedEntry {
    return renderEntry(wanted, (...routes) => this.#routes.render(...routes))
  }

  /** Starts the proxy of a domain before its first service, which then takes milliseconds. */
  async startDomain(domain: DomainEntry): Promise<void> {
    await this.#proxyOf(domain).prepare()
    this.#stopIfIdle(domain.number)
  }

  /** Ends the proxy of a domain that is removed. */
  async stopDomain(number: number): Promise<void> {
    this.#idle.get(number)?.clear()
    this.#idle.delete(number)
    const proxy = this.#proxies.get(number)
    if (proxy === undefined) return
    this.#proxies.delete(number)
    for (const key of proxy.keys) this.#forget(key)
    const stopping = proxy.stop()
    this.#stopping.set(number, stopping)
    await stopping
    if (this.#stopping.get(number) === stopping) this.#stopping.delete(number)
  }

  /** The proxy's port for a service; null if it does not serve it. The port stays the same while it is served. */
  proxyPort(serviceId: string): ProxyPort | null {
    const number = this.#domainOfService.get(serviceId)
    const proxy = number === undefined ? undefined : this.#proxies.get(number)
    const port = proxy?.portOf(serviceId) ?? null
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
    return [...this.#proxies].flatMap(([number, proxy]) => (domains?.has(number) === false ? [] : [proxy]))
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
    for (const proxy of this.#proxies.values()) await this.#attempt(proxy, () => proxy.renew())
  }

  async apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    const work = new Map<number, { domain: DomainEntry | null; put: RenderedEntry[]; remove: string[] }>()
    const workOf = (number: number) => {
      const one = work.get(number) ?? { domain: null, put: [], remove: [] }
      work.set(number, one)
      return one
    }
    const removeFrom = (key: string, number: number | undefined): void => {
      if (number !== undefined) workOf(number).remove.push(key)
    }
    const refused: Applied[] = []
    for (const wanted of changes.put) {
      const { key, domain } = wanted
      const held = this.#held.get(key)?.domain
      if (!hasProxied(wanted) || (held !== undefined && held !== domain.number)) removeFrom(key, held)
      if (!hasProxied(wanted)) continue
      try {
        const rendered = this.render(wanted)
        const one = workOf(domain.number)
        one.domain = domain
        one.put.push(rendered)
      } catch (error) {
        refused.push(applied(key, { reason: 'EntryRefused', message: String(error) }))
      }
    }
    for (const key of changes.remove) removeFrom(key, this.#held.get(key)?.domain)
    const prune = this.#prune
    this.#prune = false
    const done = await Promise.all(
      [...work].map(([number, one]) => this.#applyTo(number, one.domain, one.put, one.remove)),
    )
    if (prune) await this.#pruneAll()
    return [...done.flat(), ...refused]
  }

  async observe(): Promise<readonly string[]> {
    return (await Promise.all([...this.#proxies.values()].map((proxy) => proxy.observe()))).flat()
  }

  async stats(): Promise<readonly ServiceStats[]> {
    const rows = await Promise.all([...this.#proxies.values()].map((proxy) => proxy.stats()))
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
    return (await this.#proxies.get(entry.domain)?.poolFigures(entry)) ?? []
  }

  async traffic(): Promise<readonly MemberTraffic[]> {
    return (await Promise.all([...this.#proxies.values()].map((proxy) => proxy.traffic()))).flat()
  }

  /** The connections of a domain's proxy; null if there is none. */
  async connections(domain: number): Promise<ProxyConnections | null> {
    return (await this.#proxies.get(domain)?.connections()) ?? null
  }

  /** The proxies continue, and the next agent adopts them. */
  async close(): Promise<void> {
    for (const timer of this.#idle.values()) timer.clear()
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.close()))
  }

  async #applyTo(
    number: number,
    domain: DomainEntry | null,
    put: readonly RenderedEntry[],
    remove: readonly string[],
  ): Promise<readonly Applied[]> {
    const proxy = domain === null ? this.#proxies.get(number) : this.#proxyOf(domain)
    if (proxy === undefined) return []
    const outcomes = await proxy.apply(put, remove)
    for (const key of remove) if (this.#held.get(key)?.domain === number) this.#forget(key)
    for (const entry of put) this.#hold(entry)
    this.#stopIfIdle(number)
    const removed = remove.filter((key) => !outcomes.has(key)).map((key) => applied(key, null))
    return [...[...outcomes].map(([key, outcome]) => applied(key, outcome)), ...removed]
  }

  #hold(entry: RenderedEntry): void {
    this.#forget(entry.key, entry)
    this.#held.set(entry.key, entry)
    for (const { service } of entry.frontends) this.#domainOfService.set(service, entry.domain)
  }

  /** @param next its next version, whose routes are rendered from the last ones */
  #forget(key: string, next?: RenderedEntry): void {
    const kept = new Set(next?.frontends.map(({ service }) => service))
    for (const { service } of this.#held.get(key)?.frontends ?? []) {
      this.#domainOfService.delete(service)
      if (!kept.has(service)) this.#routes.forget(service)
    }
    this.#held.delete(key)
  }

  #proxyOf(domain: DomainEntry): DomainProxy {
    this.#idle.get(domain.number)?.clear()
    this.#idle.delete(domain.number)
    const proxy = this.#proxies.get(domain.number) ?? this.#make(domain)
    this.#proxies.set(domain.number, proxy)
    return proxy
  }

  #make(domain: DomainEntry): DomainProxy {
    const { metricsOf } = this.#given
    return DomainProxy.open({
      ...(metricsOf === undefined ? {} : { metricsOf }),
      place: this.#given.place(domain),
      after: this.#stopping.get(domain.number),
      uid: this.#options.firstUid + domain.number,
      host: this.#given.host,
      options: this.#options,
      clock: this.#clock,
      log: this.#given.log,
      count: (what) => this.#counters[what === 'reload' ? 'reloads' : 'transactions']++,
    })
  }

  #stopIfIdle(number: number): void {
    if (this.#idle.has(number) || (this.#proxies.get(number)?.keys.length ?? 1) > 0) return
    const stop = async (): Promise<void> => {
      try {
        if (this.#proxies.get(number)?.keys.length === 0) await this.stopDomain(number)
      } catch (error) {
        this.#given.log.warn({ domain: number, error: String(error) }, 'an idle proxy did not stop')
      }
    }
    this.#idle.set(
      number,
      this.#clock.setTimer(() => void stop(), this.#options.graceMs),
    )
  }

  async #pruneAll(): Promise<void> {
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.prune()))
    const known = new Set([...this.#proxies.values()].map(({ place }) => place.name))
    await endLeftProxies(this.#options.runDirectory, known, this.#given.host)
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

const hasProxied = ({ entry }: WantedEntry): boolean => entry.services.some(({ protocol }) => isProxied(protocol))

const applied = (key: string, outcome: Outcome): Applied =>
  outcome === null
    ? { key, state: 'programmed', reason: null, message: null }
    : { key, state: 'failed', reason: outcome.reason, message: outcome.message }
