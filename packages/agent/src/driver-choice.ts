import type { DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import { featuresOfListener } from '@spout/model/listener-features'
import type { DomainEntry, LoadBalancerEntry, NodePool, NodeRoute } from '@spout/model/node-state'
import { featuresOfPool } from '@spout/model/pool-features'
import { isProxied, transportOf } from '@spout/model/protocols'
import { poolsOfNodeRoutes } from '@spout/model/route-keys'

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
  const { dedicatedProxy, requestSizes } = entry
  const around = { listeners: entry.services, dedicatedProxy, requestSizes }
  if (domain.returnPath === 'dsr') packetPath.add('dsr')
  if (domain.returnPath === 'node') packetPath.add('l4.member-nodes')
  if (entry.services.length === 0) packetPath.add('l4.tcp')
  for (const service of entry.services) {
    const { protocol, pool, routes } = service
    packetPath.add(isProxied(protocol) ? 'l4.redirect' : `l4.${transportOf(protocol)}`)
    const own = entry.pools.find(({ number }) => number === pool)
    if (own !== undefined) for (const feature of featuresOfPool(own, 'packet path')) packetPath.add(feature)
    if (!isProxied(protocol)) continue
    for (const feature of featuresOfListener(service, around)) proxy.add(feature)
    for (const feature of poolFeatures(entry.pools, pool, routes)) proxy.add(feature)
  }
  return [packetPath, proxy].filter(({ size }) => size > 0).map((features) => [...features].sort().join(' '))
}

/** The features that the pools of a service need of a proxy. */
function poolFeatures(
  pools: readonly NodePool[],
  defaultPool: number | null,
  routes: readonly NodeRoute[] = [],
): readonly string[] {
  const used = new Set([defaultPool, ...poolsOfNodeRoutes(routes)])
  return pools.filter(({ number }) => used.has(number)).flatMap((pool) => featuresOfPool(pool, 'proxy'))
}
