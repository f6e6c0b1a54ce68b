import type { VipMove } from '@spout/model'
import { Ring } from '../shards/ring.ts'
import { between } from '../shards/shard-record.ts'

const MOST_MOVES = 16

/** The moves of addresses that follow no shard: the planner chose their owner, or every node announces them. */
export class VipLog {
  /** By load balancer id. */
  readonly #moves = new Map<string, Ring<VipMove & { readonly address: string }>>()

  /**
   * Records that a node started or stopped announcing the address. @param shared whether other nodes announce it as
   * well
   */
  note(
    loadBalancerId: string,
    address: string,
    move: Pick<VipMove, 'at' | 'event' | 'nodeId'>,
    shared: boolean,
    reasonFrom: (fromNodeId: string) => string | null,
  ): void {
    const ring = this.#moves.get(loadBalancerId) ?? new Ring<VipMove & { readonly address: string }>(MOST_MOVES)
    this.#moves.set(loadBalancerId, ring)
    const own = ring.entries().filter((known) => known.address === address)
    const last = own.findLast(({ event }) => event === 'taken')
    const from =
      move.event === 'taken' && !shared && last !== undefined && last.nodeId !== move.nodeId ? last.nodeId : null
    const released = own.findLast(({ event, nodeId }) => event === 'released' && nodeId === from)
    const since = released !== undefined && last !== undefined && released.at >= last.at ? released.at : null
    ring.push({
      ...move,
      address,
      fromNodeId: from,
      reason: from === null ? null : reasonFrom(from),
      durationMs: from === null ? null : between(since, move.at),
    })
  }

  moves(loadBalancerId: string, address: string): readonly VipMove[] {
    const ring = this.#moves.get(loadBalancerId)?.entries() ?? []
    return ring.filter((move) => move.address === address).map(({ address: _, ...move }) => move)
  }

  forget(loadBalancerId: string): void {
    this.#moves.delete(loadBalancerId)
  }
}
