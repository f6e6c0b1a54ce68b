import type { ModelView } from '@spout/admission/contract'
import { loadBalancerOfKey, type VipMove } from '@spout/model'
import type { NodeLiveness } from '../liveness/node-liveness.ts'
import type { AnnouncedDifference } from '../reports/report-difference.ts'
import type { ShardTable } from '../shards/shard-table.ts'
import type { Carriers } from './carriers.ts'
import { VipLog } from './vip-log.ts'

export interface VipHistoryOptions {
  readonly view: ModelView
  readonly liveness: NodeLiveness
  readonly carriers: Carriers
  readonly shards: ShardTable
}

/** The history of which nodes announced each address, from nodes' reports. */
export class VipHistory {
  readonly #options: VipHistoryOptions
  readonly #log = new VipLog()

  constructor(options: VipHistoryOptions) {
    this.#options = options
  }

  /**
   * Records changes of what a node announces. Addresses that follow a shard are left out: their moves are in the
   * shard's history, where a thousand addresses that move together are one move.
   */
  note(nodeId: string, { key, before, after }: AnnouncedDifference, at: string): void {
    const id = loadBalancerOfKey(key)
    if (id === null) return
    const shared = this.#shardOf(id) !== null
    const note = (address: string, event: VipMove['event']) => {
      if (shared && !this.#options.carriers.isRouted(id, address)) return
      this.#log.note(id, address, { at, event, nodeId }, shared, (from) => this.#whyLeft(from))
    }
    for (const address of before) if (!after.includes(address)) note(address, 'released')
    for (const address of after) if (!before.includes(address)) note(address, 'taken')
  }

  moves(loadBalancerId: string, address: string): readonly VipMove[] {
    const { carriers, shards } = this.#options
    const shard = this.#shardOf(loadBalancerId)
    const own = this.#log.moves(loadBalancerId, address)
    if (shard === null || carriers.isRouted(loadBalancerId, address)) return own
    return [...own, ...shards.moves(shard.nodeGroupId, shard.number)]
  }

  forget(loadBalancerId: string): void {
    this.#log.forget(loadBalancerId)
  }

  #shardOf(loadBalancerId: string) {
    return this.#options.view.get('placement', loadBalancerId)?.value.shard ?? null
  }

  /** Why the planner took an address from this node. */
  #whyLeft(nodeId: string): string {
    const { view, liveness } = this.#options
    const node = view.get('node', nodeId)?.value
    if (node === undefined) return 'NodeDeleted'
    if (liveness.of(nodeId) === 'lost') return 'NodeLost'
    return node.scheduling === 'draining' ? 'NodeDrained' : 'Planned'
  }
}
