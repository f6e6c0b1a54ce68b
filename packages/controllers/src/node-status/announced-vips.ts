import { isLoadBalancerKey, shardOfAnnounce } from '@spout/model'
import type { NodeStateTable } from '../node-states/node-state-table.ts'
import type { NodeReports } from '../reports/node-reports.ts'

export interface AnnouncedVipsOptions {
  readonly nodeStates: NodeStateTable
  readonly reports: NodeReports
}

/**
 * Counts the VIPs that each node announces. A node reports all VIPs that it is ready to announce. Of these, a VIP that
 * follows a shard is announced only by the shard's master.
 */
export class AnnouncedVips {
  readonly #options: AnnouncedVipsOptions
  /** node id -> count. Cached until an input changes, because a node may have 10,000 load balancers. */
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

  /** Call when the node's report changed, or the node was deleted. */
  nodeChanged(nodeId: string): void {
    this.#counts.delete(nodeId)
  }

  /** Call when entries under this key changed. Their addresses may be announced by other nodes now. */
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
        const shard = announce && shardOfAnnounce(announce)
        if (shard === null || masterOf.has(shard)) count++
      }
    }
    return count
  }
}
