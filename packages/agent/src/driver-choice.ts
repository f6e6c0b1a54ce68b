import type { DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import type { DomainEntry, LoadBalancerEntry, NodePool, NodeRoute } from '@spout/model/node-state'
import { accessLogFeature, isBehind, isProxied, readsRequests, transportOf } from '@spout/model/protocols'
import { featuresOfRoutes, poolsOfNodeRoutes } from '@spout/model/route-keys'

/** The drivers that carry an entry. `missing` names a feature that no driver offers. */
export interface Choice {
  readonly drivers: ReadonlySet<DataPlaneDriver>
  readonly missing: string | null
}

/** Chooses the drivers of an entry: for each need, the first driver that offers its features. */
export class DriverChoice {
  readonly drivers: readonly DataPlaneDriver[]
  /** Cache by needs, since entries have few different ones. */
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
      const driver = this.drivers.find(({ features }) => need.split(' ').every((feature) => features.has(feature)))
      if (driver === undefined) missing.push(need)
      else drivers.add(driver)
    }
    return { drivers, missing: missing.length === 0 ? null : missing.join(', ') }
  }
}

/**
 * Needs of an entry. Each is a list of features that one driver must offer, joined by spaces. A proxied listener also
 * needs the packet path, which redirects to the proxy. So does an entry without listeners, so that the tables of its
 * domain exist when the first listener comes.
 */
function needsOf({ domain, entry }: Pick<WantedEntry, 'domain' | 'entry'>): readonly string[] {
  const forwarded = domain.returnPath === 'dsr' ? ' dsr' : ''
  if (entry.services.length === 0) return [`l4.tcp${forwarded}`]
  const needs = new Set<string>()
  for (const service of entry.services) {
    const { protocol, pool, routes, tls, latencies, routeFigures, accessLog } = service
    const refuses = entry.pools.some(({ number, refusedPercent }) => number === pool && refusedPercent !== undefined)
    needs.add(`l4.${transportOf(protocol)}${forwarded}${refuses ? ' l4.refused-shares' : ''}`)
    if (!isProxied(protocol)) continue
    const spoken = entry.pools.find(({ number }) => number === pool)?.proxyProtocol ?? 'none'
    const ofPools = poolFeatures(entry.pools, pool, routes)
    const clients = tls?.clients === undefined ? [] : ['l7.client-certificates']
    const crl = tls?.clients?.revocations === undefined ? [] : ['l7.client-certificates.crl']
    const invalid = tls?.clients?.acceptInvalid ? ['l7.client-certificates.invalid'] : []
    const ciphers = tls?.ciphers === undefined ? [] : ['l7.tls-ciphers']
    const separate = tls?.separateHosts === undefined ? [] : ['l7.separate-hosts']
    needs.add(
      [
        `l7.${protocol}`,
        ...(entry.dedicatedProxy === undefined ? [] : ['l7.dedicated-proxy']),
        ...(entry.requestSizes === undefined || !readsRequests(protocol) ? [] : ['l7.request-sizes']),
        ...(spoken === 'none' ? [] : ['l7.proxy-protocol']),
        ...featuresOfRoutes(routes ?? []),
        ...clients,
        ...crl,
        ...invalid,
        ...ciphers,
        ...separate,
        ...(isBehind(service, entry.services) ? ['l7.tls-shared-ports'] : []),
        ...(latencies === undefined ? [] : ['l7.latencies']),
        ...(routeFigures === undefined ? [] : ['l7.latencies.routes']),
        ...(accessLog === undefined ? [] : [accessLogFeature(accessLog.syslog)]),
        ...ofPools,
      ].join(' '),
    )
  }
  return [...needs].sort()
}

/** The features that the pools of a service need for sessions and for TLS with their members. */
function poolFeatures(
  pools: readonly NodePool[],
  defaultPool: number | null,
  routes: readonly NodeRoute[] = [],
): readonly string[] {
  const used = new Set([defaultPool, ...poolsOfNodeRoutes(routes)])
  const those = pools.filter(({ number }) => used.has(number))
  const kinds = new Set(those.map(({ session }) => session?.by))
  return [
    ...(those.some(({ tls }) => tls !== undefined) ? ['l7.pool-tls'] : []),
    ...(those.some(({ http2 }) => http2) ? ['l7.pool-h2c'] : []),
    ...(those.some(({ tls }) => tls?.revocations !== undefined) ? ['l7.pool-tls.crl'] : []),
    ...(those.some(({ tls }) => tls?.ciphers !== undefined) ? ['l7.tls-ciphers'] : []),
    ...(kinds.has('cookie') ? ['l7.cookies'] : []),
    ...(those.some(({ session }) => session?.by === 'cookie' && session.cookie !== undefined)
      ? ['l7.cookies.attributes']
      : []),
    ...(kinds.has('application-cookie') ? ['l7.application-cookies'] : []),
  ]
}
