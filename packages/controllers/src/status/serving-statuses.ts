import type { LoadBalancer, MemberHealth, Serving } from '@spout/model'
import { servingOf } from '@spout/plan'
import type { Carriers } from './carriers.ts'
import { withLogTroubles } from './log-troubles.ts'
import { withOverShares } from './over-shares.ts'

interface Known {
  readonly loadBalancer: LoadBalancer
  readonly ownerNodeId: string | null
  readonly serving: Serving
  /** `Carriers.places` then. */
  readonly places: string
  /** Shared by all current readers, and garbage-collected after the last of them. Null: nobody has asked yet. */
  members: WeakRef<ReadonlyMap<string, MemberHealth>> | null
}

type Seen = Pick<Carriers, 'healthOf' | 'members' | 'overShares' | 'logTroubles' | 'places'>

/**
 * The serving states of load balancers and the health of their members, from nodes' reports. Cached, because lists are
 * long.
 */
export class ServingStatuses {
  readonly #carriers: Seen
  readonly #ownerOf: (loadBalancerId: string) => string | null
  readonly #known = new Map<string, Known>()
  #closed = false

  /** @param ownerOf the node whose checks count; null: the checks of all nodes count */
  constructor(carriers: Seen, ownerOf: (loadBalancerId: string) => string | null) {
    this.#carriers = carriers
    this.#ownerOf = ownerOf
  }

  of(loadBalancer: LoadBalancer): Serving {
    return this.#current(loadBalancer).serving
  }

  membersOf(loadBalancer: LoadBalancer): ReadonlyMap<string, MemberHealth> {
    const known = this.#current(loadBalancer)
    const members = known.members?.deref() ?? this.#carriers.members(loadBalancer, known.ownerNodeId)
    known.members = new WeakRef(members)
    return members
  }

  /**
   * Call when a node has another entry of it, or none any more. It counts only where it is carried, which is the same after
   * most changes.
   */
  entryChanged(loadBalancerId: string): void {
    const known = this.#known.get(loadBalancerId)
    if (known !== undefined && known.places !== this.#carriers.places(loadBalancerId)) this.forget(loadBalancerId)
  }

  /** Call when its members' health, its shares or its access logs changed, or it was deleted. */
  forget(loadBalancerId: string): void {
    this.#known.delete(loadBalancerId)
  }

  forgetAll(): void {
    this.#known.clear()
  }

  /** Nobody says any more what changes, so from now on each is worked out when asked for. */
  close(): void {
    this.#closed = true
    this.#known.clear()
  }

  #current(loadBalancer: LoadBalancer): Known {
    const ownerNodeId = this.#ownerOf(loadBalancer.id)
    const known = this.#known.get(loadBalancer.id)
    if (known !== undefined && known.loadBalancer === loadBalancer && known.ownerNodeId === ownerNodeId) return known
    const { id, listeners } = loadBalancer
    const serving = withLogTroubles(
      withOverShares(
        servingOf(loadBalancer, this.#carriers.healthOf(loadBalancer, ownerNodeId)),
        this.#carriers.overShares(id),
      ),
      listeners,
      this.#carriers.logTroubles(id),
    )
    const now = { loadBalancer, ownerNodeId, serving, places: this.#carriers.places(id), members: null }
    if (!this.#closed) this.#known.set(loadBalancer.id, now)
    return now
  }
}
