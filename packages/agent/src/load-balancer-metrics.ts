import type { DataPlaneDriver } from '@spout/dataplane'
import type { ServiceStats } from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'
import type { Clock } from '@spout/runtime'
import { metricsText } from './metrics-text.ts'
import type { ListenerLatencies } from './request-figures.ts'

export interface LoadBalancerMetricsOptions {
  readonly drivers: readonly Pick<DataPlaneDriver, 'stats' | 'poolFigures'>[]
  /** Ids of an entry's members that are down. */
  readonly down: (key: string) => ReadonlySet<string>
  /** Null for a listener whose latencies are not counted. */
  readonly latencies: (listenerId: string) => ListenerLatencies | null
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/** Counters are read at most this often: drivers read those of the whole node, for all listeners at once. */
const FRESH_MS = 1_000

/**
 * Answers listeners of protocol `metrics` with the figures of their own load balancer on this node, and of no other.
 */
export class LoadBalancerMetrics {
  readonly #options: LoadBalancerMetricsOptions
  /** Entries that have such a listener, by its id. */
  readonly #entries = new Map<string, LoadBalancerEntry>()
  /** Their listeners, by the entry's key. */
  readonly #listeners = new Map<string, readonly string[]>()
  #read: { readonly atMs: number; readonly stats: Promise<readonly ServiceStats[]> } | null = null

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

  /** The metrics in the Prometheus text format; null if the listener is not of protocol `metrics`. */
  async of(listenerId: string): Promise<string | null> {
    const entry = this.#entries.get(listenerId)
    if (entry === undefined) return null
    const { drivers, down, latencies } = this.#options
    const [stats, pools] = await Promise.all([
      this.#stats(),
      Promise.all(drivers.map((driver) => driver.poolFigures?.(entry) ?? [])),
    ])
    const own = stats.filter(({ loadBalancerId }) => loadBalancerId === entry.id)
    return metricsText({
      entry,
      stats: new Map(own.map((one) => [one.listenerId, one])),
      pools: pools.flat(),
      down: down(entry.key),
      latencies: new Map(
        entry.services.flatMap(({ id }) => {
          const counted = latencies(id)
          return counted === null ? [] : [[id, counted] as const]
        }),
      ),
    })
  }

  #stats(): Promise<readonly ServiceStats[]> {
    const { drivers, clock } = this.#options
    const atMs = clock.monotonicMs()
    if (this.#read === null || atMs - this.#read.atMs >= FRESH_MS) {
      const stats = Promise.all(drivers.map((driver) => driver.stats())).then((all) => all.flat())
      // Requests that wait for this read get the error. The next request reads again.
      stats.catch(() => {
        if (this.#read?.stats === stats) this.#read = null
      })
      this.#read = { atMs, stats }
    }
    return this.#read.stats
  }
}
