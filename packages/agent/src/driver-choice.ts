import type { DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import type { DomainEntry, LoadBalancerEntry, NodePool, NodeRoute, Service } from '@spout/model/node-state'
import { featuresOfPool } from '@spout/model/pool-features'
import { accessLogFeature, isBehind, isProxied, readsRequests, transportOf } from '@spout/model/protocols'
import { featuresOfRoutes, poolsOfNodeRoutes } from '@spout/model/route-keys'

/** The drivers that carry an entry. `missing` names the features for which there is no driver. */
export interface Choice {
  readonly drivers: ReadonlySet<DataPlaneDriver>
  readonly missing: string | null
}

/**
 * Chooses the drivers of an entry: one for its packet path and, if it has proxied listeners, one for these. Each is the
 * first driver that offers all features that its part needs. There is only one for each part, because a driver gets the
 * whole entry: two packet-path drivers would both program its listeners.
 */
export class DriverChoice {
  readonly drivers: readonly DataPlaneDriver[]
  /** Choices by needs. Entries have few different needs. */
  readonly #known = new Map<string, Choice>()
  /**
   * Caches the needs of an entry: they are read several times while it is applied, and it may have thousands of routes.
   */
  readonly #ofEntry = new WeakMap<LoadBalancerEntry, { readonly domain: DomainEntry; readonly choice: Choice }>()

  constructor(drivers: readonly DataPlaneDriver[]) {
    this.drivers = drivers
  }

  of(wanted: Pick<WantedEntry, 'domain' | 'entry'>): Choice {
    const { domain, entry } = wanted
    const known = this.#ofEntry.get(entry)
    if (known?.domain === domain) return known.choice
    const choice = this.#byNeeds(needsOf(wanted))
    this.#ofEntry.set(entry, { domain, choice })
    return choice
  }

  #byNeeds(needs: readonly string[]): Choice {
    const name = needs.join()
    const known = this.#known.get(name) ?? this.#choose(needs)
    this.#known.set(name, known)
    return known
  }

  #choose(needs: readonly string[]): Choice {
    const drivers = new Set<DataPlaneDriver>()
    const missing: string[] = []
    for (const need of needs) {
      const features = need.split(' ')
      const driver = this.drivers.find((one) => features.every((feature) => one.features.has(feature)))
      if (driver !== undefined) drivers.add(driver)
      else missing.push(this.#offeredByNone(features) || need)
    }
    return { drivers, missing: missing.length === 0 ? null : missing.join(', ') }
  }

  #offeredByNone(features: readonly string[]): string {
    return features.filter((feature) => !this.drivers.some((driver) => driver.features.has(feature))).join(' ')
  }
}

/**
 * Needs of an entry: the features that the driver of its packet path must offer, and those of its proxy, each joined by
 * spaces. The packet path redirects proxied listeners. An entry without listeners needs one, too, so that the tables of
 * its domain exist when the first listener comes.
 */
function needsOf({ domain, entry }: Pick<WantedEntry, 'domain' | 'entry'>): readonly string[] {
  const packetPath = new Set<string>()
  const proxy = new Set<string>()
  if (domain.returnPath === 'dsr') packetPath.add('dsr')
  if (entry.services.length === 0) packetPath.add('l4.tcp')
  for (const service of entry.services) {
    const { protocol, pool } = service
    packetPath.add(isProxied(protocol) ? 'l4.redirect' : `l4.${transportOf(protocol)}`)
    const own = entry.pools.find(({ number }) => number === pool)
    if (own !== undefined) for (const feature of featuresOfPool(own, 'packet path')) packetPath.add(feature)
    if (isProxied(protocol)) for (const feature of proxyFeatures(service, entry)) proxy.add(feature)
  }
  return [packetPath, proxy].filter(({ size }) => size > 0).map((features) => [...features].sort().join(' '))
}

/** The features that a proxy needs for a listener, with its routes and pools. */
function proxyFeatures(service: Service, entry: LoadBalancerEntry): readonly string[] {
  const { protocol, pool, routes, tls, latencies, routeFigures, accessLog } = service
  return [
    `l7.${protocol}`,
    ...(entry.dedicatedProxy === undefined ? [] : ['l7.dedicated-proxy']),
    ...(entry.requestSizes === undefined || !readsRequests(protocol) ? [] : ['l7.request-sizes']),
    ...featuresOfRoutes(routes ?? []),
    ...(tls?.clients === undefined ? [] : ['l7.client-certificates']),
    ...(tls?.clients?.revocations === undefined ? [] : ['l7.client-certificates.crl']),
    ...(tls?.clients?.acceptInvalid ? ['l7.client-certificates.invalid'] : []),
    ...(tls?.ciphers === undefined ? [] : ['l7.tls-ciphers']),
    ...(tls?.separateHosts === undefined ? [] : ['l7.separate-hosts']),
    ...(isBehind(service, entry.services) ? ['l7.tls-shared-ports'] : []),
    ...(latencies === undefined ? [] : ['l7.latencies']),
    ...(routeFigures === undefined ? [] : ['l7.latencies.routes']),
    ...(accessLog === undefined ? [] : [accessLogFeature(accessLog.syslog)]),
    ...poolFeatures(entry.pools, pool, routes),
  ]
}

/** The features that the pools of a service need. */
function poolFeatures(
  pools: readonly NodePool[],
  defaultPool: number | null,
  routes: readonly NodeRoute[] = [],
): readonly string[] {
  const used = new Set([defaultPool, ...poolsOfNodeRoutes(routes)])
  return pools.filter(({ number }) => used.has(number)).flatMap((pool) => featuresOfPool(pool, 'proxy'))
}
