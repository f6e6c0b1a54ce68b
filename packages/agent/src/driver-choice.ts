import type { DataPlaneDriver, WantedEntry } from '@spout/dataplane'
import { isProxied, transportOf } from '@spout/model/protocols'

/** Who carries an entry; what no driver offers is `missing`, in words of features. */
export interface Choice {
  readonly drivers: ReadonlySet<DataPlaneDriver>
  readonly missing: string | null
}

/** Which drivers an entry is for: for each thing that it needs, the first driver that offers it. */
export class DriverChoice {
  readonly drivers: readonly DataPlaneDriver[]
  /** By what is needed: entries need few different things. */
  readonly #known = new Map<string, Choice>()

  constructor(drivers: readonly DataPlaneDriver[]) {
    this.drivers = drivers
  }

  of(wanted: Pick<WantedEntry, 'domain' | 'entry'>): Choice {
    const needs = needsOf(wanted)
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
 * Features, those of one driver in one text. A proxied listener needs the packet path too: it leads to the proxy. So does
 * an entry without listeners: the tables of its domain are there when the first one comes.
 */
function needsOf({ domain, entry }: Pick<WantedEntry, 'domain' | 'entry'>): readonly string[] {
  const forwarded = domain.returnPath === 'dsr' ? ' dsr' : ''
  if (entry.services.length === 0) return [`l4.tcp${forwarded}`]
  const needs = new Set<string>()
  for (const { protocol, pool } of entry.services) {
    needs.add(`l4.${transportOf(protocol)}${forwarded}`)
    if (!isProxied(protocol)) continue
    const spoken = entry.pools.find(({ number }) => number === pool)?.proxyProtocol ?? 'none'
    needs.add(`l7.${protocol}${spoken === 'none' ? '' : ' l7.proxy-protocol'}`)
  }
  return [...needs].sort()
}
