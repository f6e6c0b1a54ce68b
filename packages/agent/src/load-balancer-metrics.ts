import type { DataPlaneDriver } from '@spout/dataplane'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import { metricsText } from './metrics-text.ts'

export interface LoadBalancerMetricsOptions {
  readonly drivers: readonly Pick<DataPlaneDriver, 'stats' | 'poolFigures'>[]
  /** Ids of an entry's members that are down. */
  readonly down: (key: string) => ReadonlySet<string>
}

/** Answers listeners of protocol `metrics` with the figures of their own load balancer on this node, and of no other. */
export class LoadBalancerMetrics {
  readonly #options: LoadBalancerMetricsOptions
  /** Entries that have such a listener, by its id. */
  readonly #entries = new Map<string, LoadBalancerEntry>()
  /** Their listeners, by the entry's key. */
  readonly #listeners = new Map<string, readonly string[]>()

  constructor(options: LoadBalancerMetricsOptions) {
    this.#options = options
  }

  /** The data plane now follows this entry; null when it forgot the key. */
  applied(key: string, entry: LoadBalancerEntry | null): void {
    for (const id of this.#listeners.get(key) ?? []) this.#entries.delete(id)
    this.#listeners.delete(key)
    const ids = (entry?.services ?? []).flatMap(({ id, protocol }) => (protocol === 'metrics' ? [id] : []))
    if (entry === null || ids.length === 0) return
    this.#listeners.set(key, ids)
    for (const id of ids) this.#entries.set(id, entry)
  }

  /** The Prometheus text format; null for a listener that does not answer with figures. */
  async of(listenerId: string): Promise<string | null> {
    const entry = this.#entries.get(listenerId)
    if (entry === undefined) return null
    const { drivers, down } = this.#options
    const [stats, pools] = await Promise.all([
      Promise.all(drivers.map((driver) => driver.stats())),
      Promise.all(drivers.map((driver) => driver.poolFigures?.(entry) ?? [])),
    ])
    const own = stats.flat().filter(({ loadBalancerId }) => loadBalancerId === entry.id)
    return metricsText({
      entry,
      stats: new Map(own.map((one) => [one.listenerId, one])),
      pools: pools.flat(),
      down: down(entry.key),
    })
  }
}
