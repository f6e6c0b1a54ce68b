import type { LoadBalancer, ServiceStats } from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import { StatsSum } from './stats-sum.ts'

/** The counters of all listeners, summed over nodes. */
export class ServiceSums {
  /** load balancer id -> listener id */
  readonly #sums = new Map<string, Map<string, StatsSum>>()

  report(nodeId: string, stats: ServiceStats): void {
    const { loadBalancerId, listenerId } = stats
    const listeners = this.#sums.get(loadBalancerId) ?? new Map<string, StatsSum>()
    const sum = listeners.get(listenerId) ?? new StatsSum()
    this.#sums.set(loadBalancerId, listeners.set(listenerId, sum))
    sum.report(nodeId, stats)
  }

  /** Call when the node is lost, and its connections with it. */
  ended(nodeId: string): void {
    for (const listeners of this.#sums.values()) for (const sum of listeners.values()) sum.ended(nodeId)
  }

  /** The counters summed over nodes, by listener id. */
  of(loadBalancerId: string): ReadonlyMap<string, ServiceStats> {
    return this.#byListener(loadBalancerId, (stats) => stats.sum())
  }

  /** The same without what nodes had counted before they were first heard. */
  sinceStart(loadBalancerId: string): ReadonlyMap<string, ServiceStats> {
    return this.#byListener(loadBalancerId, (stats) => stats.sinceStart())
  }

  /** The counters of one node, by listener id. */
  onNode(nodeId: string, loadBalancerId: string): ReadonlyMap<string, ServiceStats> {
    return this.#byListener(loadBalancerId, (stats) => stats.onNode(nodeId))
  }

  /** Requests by pool and by route, by listener id. */
  parts(loadBalancerId: string): ReadonlyMap<string, RequestParts> {
    return this.#byListener(loadBalancerId, (stats) => stats.parts())
  }

  #byListener<T>(loadBalancerId: string, counted: (stats: StatsSum) => T | null): ReadonlyMap<string, T> {
    const found = new Map<string, T>()
    for (const [listenerId, stats] of this.#sums.get(loadBalancerId) ?? []) {
      const one = counted(stats)
      if (one !== null) found.set(listenerId, one)
    }
    return found
  }

  /** Drops the counters of deleted listeners. */
  prune({ id, listeners }: Pick<LoadBalancer, 'id' | 'listeners'>): void {
    const sums = this.#sums.get(id)
    if (sums === undefined || sums.size <= listeners.length) return
    const live = new Set(listeners.map((listener) => listener.id))
    for (const listenerId of sums.keys()) if (!live.has(listenerId)) sums.delete(listenerId)
  }

  forget(loadBalancerId: string): void {
    this.#sums.delete(loadBalancerId)
  }
}
