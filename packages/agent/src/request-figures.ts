import type { CarriedRequest } from '@spout/dataplane'
import { LATENCY_BUCKETS, type LatencyCounts, latencyBucketOf } from '@spout/model/latency-counts'
import {
  MOST_COUNTED_POOLS,
  MOST_COUNTED_ROUTES,
  OTHER_ROUTES,
  RESPONSE_CLASSES,
  type RequestCounts,
  type RequestParts,
  type ResponseCounts,
  type ServiceStats,
} from '@spout/model/node-report'
import type { LoadBalancerEntry } from '@spout/model/node-state'

/** How long requests of one listener took on this node, since the agent started. */
export interface ListenerLatencies {
  readonly all: LatencyCounts
  readonly parts: RequestParts
}

/**
 * Counts how long requests took, by listener, pool and route. Its size depends on the listeners, not on the number of
 * requests.
 */
export class RequestFigures {
  readonly #listeners = new Map<string, Counted>()
  /** Ids of the listeners of an entry, by its key. */
  readonly #ofEntry = new Map<string, readonly string[]>()

  /** The data plane now follows this entry; null when it forgot the key. */
  applied(key: string, entry: LoadBalancerEntry | null): void {
    const services = (entry?.services ?? []).filter(({ latencies }) => latencies)
    const counting = services.map(({ id }) => id)
    const pools = new Map(entry?.pools.map(({ id, number }) => [number, id]))
    for (const id of this.#ofEntry.get(key) ?? []) if (!counting.includes(id)) this.#listeners.delete(id)
    for (const { id, routes = [], routeFigures } of services) {
      const known = this.#listeners.get(id) ?? new Counted()
      this.#listeners.set(id, known)
      known.follow(pools, new Set(routeFigures ? routes.map((route) => route.id) : []))
    }
    if (counting.length === 0) this.#ofEntry.delete(key)
    else this.#ofEntry.set(key, counting)
  }

  take(request: CarriedRequest): void {
    if (request.durationUs !== null && request.http !== null)
      this.#listeners.get(request.listenerId)?.take(request.durationUs, request)
  }

  /** Null for a listener whose latencies are not counted. */
  of(listenerId: string): ListenerLatencies | null {
    return this.#listeners.get(listenerId)?.figures() ?? null
  }

  /** The statistics of a listener with its latencies, if they are counted. */
  with(stats: ServiceStats): ServiceStats {
    const figures = stats.http === undefined ? null : this.of(stats.listenerId)
    if (figures === null || stats.http === undefined) return stats
    return { ...stats, http: { ...stats.http, latencies: figures.all, parts: reported(figures.parts) } }
  }
}

/** Only the first pools are reported, so that reports stay small. */
function reported({ pools, routes }: RequestParts): RequestParts {
  const first = Object.entries(pools).slice(0, MOST_COUNTED_POOLS)
  return { pools: Object.fromEntries(first), routes }
}

class Counted {
  readonly #all = new Histogram()
  /** By pool id. */
  readonly #pools = new Map<string, CountedRequests>()
  /** By route id. */
  readonly #routes = new Map<string, CountedRequests>()
  #ids: ReadonlyMap<number, string> = new Map()
  #routeIds: ReadonlySet<string> = new Set()

  /**
   * @param ids of the load balancer's pools, by number
   * @param routeIds of the routes that are counted by themselves
   */
  follow(ids: ReadonlyMap<number, string>, routeIds: ReadonlySet<string>): void {
    this.#ids = ids
    this.#routeIds = routeIds
    const there = new Set(ids.values())
    for (const id of this.#pools.keys()) if (!there.has(id)) this.#pools.delete(id)
    for (const id of this.#routes.keys())
      if (!routeIds.has(id) && (id !== OTHER_ROUTES || routeIds.size === 0)) this.#routes.delete(id)
  }

  /** @param request its pool may be another load balancer's, which took over the proxy slot of a deleted one */
  take(us: number, { pool, routeId, status }: CarriedRequest): void {
    this.#all.add(us)
    if (routeId !== null && this.#routeIds.has(routeId)) this.#routeOf(routeId).add(us, status)
    const id = pool === null ? undefined : this.#ids.get(pool)
    if (id === undefined) return
    const known = this.#pools.get(id) ?? new CountedRequests()
    this.#pools.set(id, known)
    known.add(us, status)
  }

  figures(): ListenerLatencies {
    return { all: this.#all.counts(), parts: { pools: figuresOf(this.#pools), routes: figuresOf(this.#routes) } }
  }

  #routeOf(id: string): CountedRequests {
    const known = this.#routes.get(id)
    if (known !== undefined) return known
    const own = this.#routes.has(OTHER_ROUTES) ? MOST_COUNTED_ROUTES + 1 : MOST_COUNTED_ROUTES
    const name = this.#routes.size < own ? id : OTHER_ROUTES
    const route = this.#routes.get(name) ?? new CountedRequests()
    this.#routes.set(name, route)
    return route
  }
}

const figuresOf = (counted: ReadonlyMap<string, CountedRequests>): Readonly<Record<string, RequestCounts>> =>
  Object.fromEntries(Array.from(counted, ([id, one]) => [id, one.figures()]))

class CountedRequests {
  readonly #latencies = new Histogram()
  readonly #responses = RESPONSE_CLASSES.map(() => 0)

  add(us: number, status: number | null): void {
    this.#latencies.add(us)
    const at = Math.floor((status ?? 0) / 100) - 1
    if (at in this.#responses) this.#responses[at]!++
  }

  figures(): RequestCounts {
    const responses = RESPONSE_CLASSES.map((each, at) => [each, this.#responses[at] ?? 0] as const)
    return { latencies: this.#latencies.counts(), responses: Object.fromEntries(responses) as ResponseCounts }
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

  /** The counts. The same object until a duration is added. */
  counts(): LatencyCounts {
    this.#counts ??= [...this.#buckets.entries()].filter(([, count]) => count > 0)
    return this.#counts
  }
}
