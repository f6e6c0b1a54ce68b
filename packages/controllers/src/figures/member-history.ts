import type { MemberHealth, MemberTransition } from '@spout/model'
import { Ring } from '../shards/ring.ts'

/** How many transitions of one load balancer are kept. */
const MOST_OF_ONE = 100
/** How many of all: some 10 MB. */
const MOST = 50_000

/** The last transitions of members' checks, as nodes reported them. Soft state, bounded. */
export class MemberHistory {
  /** Load balancers whose members changed last come last. */
  readonly #kept = new Map<string, Ring<MemberTransition>>()
  #count = 0

  note(nodeName: string, { loadBalancerId, poolId, memberId, health, reason, since }: MemberHealth): void {
    const ring = this.#kept.get(loadBalancerId) ?? new Ring<MemberTransition>(MOST_OF_ONE)
    const before = ring.entries().length
    ring.push({ at: since, nodeName, poolId, memberId, health, reason })
    this.#count += ring.entries().length - before
    this.#kept.delete(loadBalancerId)
    this.#kept.set(loadBalancerId, ring)
    for (const id of this.#kept.keys()) {
      if (this.#count <= MOST) break
      this.forget(id)
    }
  }

  /** Newest last. */
  of(loadBalancerId: string): readonly MemberTransition[] {
    return this.#kept.get(loadBalancerId)?.entries() ?? []
  }

  forget(loadBalancerId: string): void {
    this.#count -= this.#kept.get(loadBalancerId)?.entries().length ?? 0
    this.#kept.delete(loadBalancerId)
  }
}
