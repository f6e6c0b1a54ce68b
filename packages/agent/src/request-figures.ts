import type { CarriedRequest } from '@spout/dataplane'
import { LATENCY_BUCKETS, type LatencyCounts, latencyBucketOf } from '@spout/model/latency-counts'
import type { ServiceStats } from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'

/** How long requests of one listener took on this node, since the agent started. */
export interface ListenerLatencies {
  readonly all: LatencyCounts
  /** By pool id. */
  readonly pools: ReadonlyMap<string, LatencyCounts>
}

/** Counts how long requests took, by listener and by pool. Grows with the listeners that ask for it, never with requests. */
export class RequestFigures {
  readonly #listeners = new Map<string, Counted>()
  /** Ids of the listeners of an entry, by its key. */
  readonly #ofEntry = new Map<string, readonly string[]>()

  /** The data plane now follows this entry; null when it forgot the key. */
  applied(key: string, entry: LoadBalancerEntry | null): void {
    const counting = (entry?.services ?? []).filter(({ latencies }) => latencies).map(({ id }) => id)
    const pools = new Map(entry?.pools.map(({ id, number }) => [number, id]))
    for (const id of this.#ofEntry.get(key) ?? []) if (!counting.includes(id)) this.#listeners.delete(id)
    for (const id of counting) {
      const known = this.#listeners.get(id)
      if (known === undefined) this.#listeners.set(id, new Counted(pools))
      else known.follow(pools)
    }
    if (counting.length === 0) this.#ofEntry.delete(key)
    else this.#ofEntry.set(key, counting)
  }

  take({ listenerId, pool, durationUs, http }: CarriedRequest): void {
    if (durationUs !== null && http !== null) this.#listeners.get(listenerId)?.take(durationUs, pool)
  }

  /** Null for a listener whose latencies are not counted. */
  of(listenerId: string): ListenerLatencies | null {
    return this.#listeners.get(listenerId)?.figures() ?? null
  }

  /** The statistics of a listener with its latencies, if they are counted. */
  with(stats: ServiceStats): ServiceStats {
    const figures = stats.http === undefined ? null : this.of(stats.listenerId)
    return figures === null || stats.http === undefined
      ? stats
      : { ...stats, http: { ...stats.http, latencies: figures.all } }
  }
}

class Counted {
  readonly #all = new Histogram()
  /** By pool id. */
  readonly #pools = new Map<string, Histogram>()
  #ids: ReadonlyMap<number, string>

  /** @param ids of the load balancer's pools, by number */
  constructor(ids: ReadonlyMap<number, string>) {
    this.#ids = ids
  }

  follow(ids: ReadonlyMap<number, string>): void {
    this.#ids = ids
    const there = new Set(ids.values())
    for (const id of this.#pools.keys()) if (!there.has(id)) this.#pools.delete(id)
  }

  /** @param pool a number that may be of another load balancer, which took over the slot of one that is gone */
  take(us: number, pool: number | null): void {
    this.#all.add(us)
    const id = pool === null ? undefined : this.#ids.get(pool)
    if (id === undefined) return
    const known = this.#pools.get(id) ?? new Histogram()
    this.#pools.set(id, known)
    known.add(us)
  }

  figures(): ListenerLatencies {
    return {
      all: this.#all.counts(),
      pools: new Map([...this.#pools].map(([id, histogram]) => [id, histogram.counts()])),
    }
  }
}

class Histogram {
  readonly #buckets = new Float64Array(LATENCY_BUCKETS)
  #counts: LatencyCounts | null = []

  add(us: number): void {
    const bucket = latencyBucketOf(us)
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#counts = null
  }

  /** The same object until something is added. */
  counts(): LatencyCounts {
    this.#counts ??= [...this.#buckets.entries()].filter(([, count]) => count > 0)
    return this.#counts
  }
}
