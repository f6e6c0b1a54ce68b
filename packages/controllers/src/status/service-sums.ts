import type { LoadBalancer, ServiceStats } from '@spout/model'
import type { RequestParts } from '@spout/model/node-report'
import { NodeSums } from './node-sums.ts'
import { StatsSum } from './stats-sum.ts'

/** The counters of all listeners, summed over nodes; and over listeners, for each node. */
export class ServiceSums {
  /** load balancer id -> listener id */
  readonly #sums = new Map<string, Map<string, StatsSum>>()
  readonly #nodes: NodeSums

  /** @param onNode called with the id of a node whose counters changed */
  constructor(onNode: (nodeId: string) => void = () => {}) {
    this.#nodes = new NodeSums(onNode)
  }

  /** What each node counted since it was first heard. */
  get nodes(): Pick<NodeSums, 'of' | 'forget'> {
    return this.#nodes
  }

  report(nodeId: string, stats: ServiceStats): void {
    const { loadBalancerId, listenerId } = stats
    const listeners = this.#sums.get(loadBalancerId) ?? new Map<string, StatsSum>()
    const sum = listeners.get(listenerId) ?? new StatsSum()
    this.#sums.set(loadBalancerId, listeners.set(listenerId, sum))
    this.#nodes.add(nodeId, sum.report(nodeId, stats))
  }

  /** Call when the node is lost, and its connections with it. */
  ended(nodeId: string): void {
    for (const listeners of this.#sums.values()) for (const sum of listeners.values()) sum.ended(nodeId)
    this.#nodes.ended(nodeId)
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
    for (const [listenerId, sum] of sums) {
      if (live.has(listenerId)) continue
      sums.delete(listenerId)
      this.#close(sum)
    }
  }

  forget(loadBalancerId: string): void {
    const sums = this.#sums.get(loadBalancerId)
    this.#sums.delete(loadBalancerId)
    for (const sum of sums?.values() ?? []) this.#close(sum)
  }

  /** Open connections of a listener that is gone are none of its nodes' any more. */
  #close(sum: StatsSum): void {
    for (const [nodeId, open] of sum.open) this.#nodes.closed(nodeId, open)
  }
}
