import type { LoadBalancer, LoadBalancerStatus, LoadBalancerSummary, Placement } from '@spout/model'

/** A computed status. */
export interface WorkedOut {
  readonly summary: LoadBalancerSummary
  readonly status: LoadBalancerStatus
  /**
   * Whether only a report or a change can end it. Otherwise it also depends on the time, and is not cached.
   */
  readonly holds: boolean
}

interface Known extends WorkedOut {
  readonly loadBalancer: LoadBalancer
  readonly placement: Placement | null
}

/** A cache of statuses, because clients list thousands of them again and again. Callers invalidate it. */
export class KnownStatuses {
  readonly #known = new Map<string, Known>()
  #closed = false

  of(loadBalancer: LoadBalancer, placement: Placement | null, workOut: () => WorkedOut): WorkedOut {
    const known = this.#known.get(loadBalancer.id)
    if (known?.loadBalancer === loadBalancer && known.placement === placement) return known
    const now = workOut()
    if (now.holds && !this.#closed) this.#known.set(loadBalancer.id, { ...now, loadBalancer, placement })
    else this.#known.delete(loadBalancer.id)
    return now
  }

  /**
   * Call when a report on the load balancer, its entries, its nodes' connections or its shard changed, or it was
   * deleted.
   */
  forget(loadBalancerId: string): void {
    this.#known.delete(loadBalancerId)
  }

  /** Call when the name of a node or a group may have changed. */
  forgetAll(): void {
    this.#known.clear()
  }

  /** Nobody says any more what changes, so from now on each is worked out when asked for. */
  close(): void {
    this.#closed = true
    this.#known.clear()
  }
}
