import { type Announce, isLoadBalancerKey } from '@spout/model'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { NodeReports } from '../reports/node-reports.ts'

export interface AnnouncedVipsOptions {
  readonly nodeStates: NodeStateTable
  readonly reports: NodeReports
}

/**
 * How many addresses of load balancers each node announces now. A node reports those that it took on; of those that
 * follow a shard only the shard's master answers for them, the others hold them ready.
 */
export class AnnouncedVips {
  readonly #options: AnnouncedVipsOptions
  /** node id -> count, until something it follows from changes: a node may hold 10,000 load balancers. */
  readonly #counts = new Map<string, number>()

  constructor(options: AnnouncedVipsOptions) {
    this.#options = options
  }

  of(nodeId: string): number {
    const known = this.#counts.get(nodeId)
    if (known !== undefined) return known
    const counted = this.#count(nodeId)
    this.#counts.set(nodeId, counted)
    return counted
  }

  /** The node said something new, or is gone. */
  nodeChanged(nodeId: string): void {
    this.#counts.delete(nodeId)
  }

  /** What nodes shall hold under this key changed, and with it perhaps who answers for its addresses. */
  keyChanged(key: string): void {
    if (isLoadBalancerKey(key)) this.#counts.clear()
  }

  #count(nodeId: string): number {
    const { nodeStates, reports } = this.#options
    const shards = reports.node(nodeId)?.shards ?? []
    const masterOf = new Set(shards.filter(({ state }) => state === 'master').map(({ number }) => number))
    let count = 0
    for (const { key, announced } of reports.entries(nodeId)) {
      if (announced.length === 0) continue
      const entry = nodeStates.get(nodeId, key)?.entry
      if (entry?.kind !== 'load-balancer') continue
      for (const { address, announce } of entry.vips) {
        if (!announced.includes(address)) continue
        const shard = shardOf(announce)
        if (shard === null || masterOf.has(shard)) count++
      }
    }
    return count
  }
}

const shardOf = (announce: Announce | null): number | null =>
  announce === null || announce.via === 'l2' ? null : announce.shard
