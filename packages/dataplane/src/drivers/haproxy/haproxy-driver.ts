import { existsSync } from 'node:fs'
import type { DomainEntry, LoadBalancerEntry, ResponseCounts, ServiceStats } from '@spout/model'
import { RESPONSE_CLASSES } from '@spout/model/node-report'
import { isProxied } from '@spout/model/protocols'
import { type Clock, systemClock } from '@spout/runtime'
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
import type { FrontendCounters } from './commands/show.ts'
import { featuresOf } from './features.ts'
import type { ProxyConnections } from './place/connection-share.ts'
import type { ProxyMirrors } from './place/mirror-share.ts'
import type { ProxyHost } from './place/proxy-host.ts'
import { ownProxyOf, type ProxyPlace } from './place/proxy-place.ts'
import { processesByConfig } from './place/proxy-process.ts'
import { DomainProxy } from './processes/domain-proxy.ts'
import { endLeftProxies } from './processes/left-proxies.ts'
import { OpenProxies, type WantedProxy } from './processes/open-proxies.ts'
import { type Outcome, outcomeOf } from './processes/outcome.ts'
import { CarriedEntries } from './rendering/carried-entries.ts'
import { optionsIn, proxyNameOf, sharedProxyName } from './rendering/dedicated-seats.ts'
import type { RenderedEntry } from './rendering/render.ts'
import type { MetricsOf } from './requests/metrics-socket.ts'
import type { LineCounts, OnRequest } from './requests/told-requests.ts'
import { DEFAULT_OPTIONS, type HaproxyOptions } from './sections/options.ts'
import { SlotsExhausted } from './sections/slot-table.ts'

export interface HaproxyDriverOptions {
  /** The place of a domain's proxy. The domain must exist before its first proxied service. */
  readonly place: (domain: DomainEntry) => ProxyPlace
  readonly host: ProxyHost
  readonly log: Log
  /** Figures of load balancers, by a listener that answers with them. Default: no listener does. */
  readonly metricsOf?: MetricsOf
  /** Called with each finished request of listeners that log or measure. Default: no listener can. */
  readonly onRequest?: OnRequest
  /** Whether the agent writes access logs to files. Default: no. */
  readonly accessLogs?: boolean
  /** Whether it sends them to syslog receivers. Default: not. */
  readonly syslog?: boolean
  readonly clock?: Clock
  readonly options?: Partial<HaproxyOptions>
}

/** The changes of one `apply` to one proxy. */
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
  readonly #counters = { transactions: 0, reloads: 0 }
  readonly #lines = { read: 0, dropped: 0, ignored: 0 }
  readonly #proxies: OpenProxies<DomainProxy>
  readonly #carried = new CarriedEntries()
  /** Whether the next `apply` removes what belongs to no entry of `adopt`. */
  #prune = false

  constructor(given: HaproxyDriverOptions) {
    this.#given = given
    this.#options = { ...DEFAULT_OPTIONS, ...given.options }
    this.features = featuresOf({
      lua: this.#options.lua,
      passwords: existsSync(this.#options.passwords),
      metrics: given.metricsOf !== undefined,
      requests: given.onRequest !== undefined,
      accessLogs: given.accessLogs ?? false,
      syslog: given.syslog ?? false,
    })
    const clock = given.clock ?? systemClock
    this.#proxies = new OpenProxies({
      place: given.place,
      make: (...where) => this.#make(clock, ...where),
      options: this.#options,
      clock,
      log: given.log,
    })
  }

  get counters(): { readonly transactions: number; readonly reloads: number } {
    return { ...this.#counters }
  }

  /** Lines of requests since the agent started. */
  get lines(): LineCounts {
    return { ...this.#lines }
  }

  render(wanted: WantedEntry): RenderedEntry {
    return this.#carried.render(wanted)
  }

  /** Starts the shared proxy of a domain before its first service, which then takes milliseconds. */
  async startDomain(domain: DomainEntry): Promise<void> {
    const name = sharedProxyName(domain.number)
    await this.#proxies.open({ name, domain }).prepare()
    this.#proxies.stopIfIdle(name)
  }

  /** Ends the proxies of a domain that is removed. */
  async stopDomain(number: number): Promise<void> {
    for (const { keys } of this.#proxies.all(new Set([number]))) for (const key of keys) this.#carried.delete(key)
    await this.#proxies.stopDomain(number)
  }

  /** The proxy's port for a service; null if it does not serve it. The port stays the same while it is served. */
  proxyPort(serviceId: string): ProxyPort | null {
    const name = this.#carried.proxyOfListener(serviceId) ?? ''
    const port = this.#proxies.get(name)?.portOf(serviceId) ?? null
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
    for (const proxy of this.#proxies.all(domains)) await this.#attempt(proxy, () => proxy.closeGracefully(since))
  }

  /** Counts proxies that have clients, also in processes that were replaced. */
  async busy(domains?: ReadonlySet<number>): Promise<number> {
    const proxies = this.#proxies.all(domains)
    if (proxies.length === 0) return 0
    const processes = await processesByConfig()
    const busy = await Promise.all(proxies.map((proxy) => proxy.isBusy(processes)))
    return busy.filter(Boolean).length
  }

  /** Ends processes that were replaced and still have clients. */
  async closeRemaining(domains?: ReadonlySet<number>): Promise<void> {
    for (const proxy of this.#proxies.all(domains)) await this.#attempt(proxy, () => proxy.endReplaced())
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
    for (const proxy of this.#proxies.all()) await this.#attempt(proxy, () => proxy.renew())
  }

  async apply(changes: {
    readonly put: readonly WantedEntry[]
    readonly remove: readonly string[]
  }): Promise<readonly Applied[]> {
    await this.#proxies.learnSeats()
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
      const { key } = wanted
      const held = this.#carried.proxyOfEntry(key)
      const wantedProxy = wantedProxyOf(wanted)
      const { name } = wantedProxy
      if (!hasProxied(wanted) || (held !== undefined && held !== name)) removeFrom(key, held)
      if (!hasProxied(wanted)) continue
      try {
        const rendered = this.render(wanted)
        this.#proxies.placeOf(wantedProxy)
        const one = workOf(name)
        one.wanted = wanted
        one.put.push(rendered)
      } catch (error) {
        refused.push(applied(key, refusalOf(error)))
      }
    }
    for (const key of changes.remove) removeFrom(key, this.#carried.proxyOfEntry(key))
    const prune = this.#prune
    this.#prune = false
    const done = await Promise.all([...work].map(([name, one]) => this.#applyTo(name, one)))
    if (prune) await this.#pruneAll()
    return [...done.flat(), ...refused]
  }

  async observe(pressing?: AbortSignal): Promise<readonly string[]> {
    return (await Promise.all(this.#proxies.all().map((proxy) => proxy.observe(pressing)))).flat()
  }

  get observing(): boolean {
    return this.#proxies.all().some((proxy) => proxy.observing)
  }

  async stats(): Promise<readonly ServiceStats[]> {
    const rows = await Promise.all(this.#proxies.all().map((proxy) => proxy.stats()))
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
    const name = proxyNameOf({ ...entry, loadBalancerId: entry.id })
    return (await this.#proxies.get(name)?.poolFigures(entry)) ?? []
  }

  async traffic(): Promise<readonly MemberTraffic[]> {
    return (await Promise.all(this.#proxies.all().map((proxy) => proxy.traffic()))).flat()
  }

  /** Where a domain's proxies run. */
  placesOf(domain: number): readonly ProxyPlace[] {
    return this.#proxies.all(new Set([domain])).map(({ place }) => place)
  }

  /** How many proxies it has. */
  proxyCounts(): { readonly shared: number; readonly dedicated: number } {
    const all = this.#proxies.all()
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
    return this.#proxies.all(new Set([domain])).find(({ place }) => place.dedicated?.loadBalancerId === loadBalancerId)
  }

  /** The proxies continue, and the next agent adopts them. */
  async close(): Promise<void> {
    await this.#proxies.close()
  }

  async #applyTo(name: string, { wanted, put, remove }: Work): Promise<readonly Applied[]> {
    const proxy = wanted === null ? this.#proxies.get(name) : this.#proxies.open(wantedProxyOf(wanted))
    if (proxy === undefined) return []
    const outcomes = await proxy.apply(put, remove)
    for (const key of remove) if (this.#carried.proxyOfEntry(key) === name) this.#carried.delete(key)
    for (const entry of put) this.#carried.set(entry)
    this.#proxies.stopIfIdle(name)
    const removed = remove.filter((key) => !outcomes.has(key)).map((key) => applied(key, null))
    return [...[...outcomes].map(([key, outcome]) => applied(key, outcome)), ...removed]
  }

  #make(clock: Clock, place: ProxyPlace, domain: number, after: Promise<void> | undefined): DomainProxy {
    const { metricsOf, onRequest } = this.#given
    return DomainProxy.open({
      ...(metricsOf === undefined ? {} : { metricsOf }),
      ...(onRequest === undefined ? {} : { onRequest }),
      place,
      after,
      uid: this.#options.firstUid + domain,
      host: this.#given.host,
      options: optionsIn(place, this.#options),
      clock,
      log: this.#given.log,
      countLines: (what, lines) => {
        this.#lines[what] += lines
      },
      count: (what) => this.#counters[what === 'reload' ? 'reloads' : 'transactions']++,
    })
  }

  async #pruneAll(): Promise<void> {
    const proxies = this.#proxies.all()
    await Promise.all(proxies.map((proxy) => proxy.prune()))
    const known = new Set(proxies.map(({ place }) => place.name))
    await endLeftProxies(this.#options.runDirectory, known, this.#given.host)
    this.#proxies.freeOtherSeats()
  }
}

/** The counters of a listener's requests; nothing for a listener that does not parse requests. */
function httpOf(
  { frontends }: RenderedEntry,
  listenerId: string,
  counters: FrontendCounters,
): Pick<ServiceStats, 'http'> {
  if (frontends.find(({ service }) => service === listenerId)?.shape.mode !== 'http') return {}
  const responses = Object.fromEntries(RESPONSE_CLASSES.map((each) => [each, counters[each]])) as ResponseCounts
  return { http: { requests: counters.requests, responses } }
}

function wantedProxyOf({ domain, entry }: WantedEntry): WantedProxy {
  const dedicated = { loadBalancerId: entry.id, ...ownProxyOf(entry) }
  return { name: proxyNameOf({ domain: domain.number, ...dedicated }), domain, dedicated }
}

const refusalOf = (error: unknown): Outcome =>
  error instanceof SlotsExhausted ? outcomeOf(error) : { reason: 'EntryRefused', message: String(error) }

const hasProxied = ({ entry }: WantedEntry): boolean => entry.services.some(({ protocol }) => isProxied(protocol))

const applied = (key: string, outcome: Outcome): Applied =>
  outcome === null
    ? { key, state: 'programmed', reason: null, message: null }
    : { key, state: 'failed', reason: outcome.reason, message: outcome.message }
