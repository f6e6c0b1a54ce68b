import type { LoadBalancer, LoadBalancerStatus, LoadBalancerSummary, Placement } from '@spout/model'

/** A status that was worked out. */
export interface WorkedOut {
  readonly summary: LoadBalancerSummary
  readonly status: LoadBalancerStatus
  /**
   * Whether it stays until a report or a change. Otherwise it also depends on the time, and nothing signals its end.
   */
  readonly holds: boolean
}

interface Known extends WorkedOut {
  readonly loadBalancer: LoadBalancer
  readonly placement: Placement | null
}

/** Statuses, each until something that it follows from changes. Clients ask for lists of thousands again and again. */
export class KnownStatuses {
  readonly #known = new Map<string, Known>()

  of(loadBalancer: LoadBalancer, placement: Placement | null, workOut: () => WorkedOut): WorkedOut {
    const known = this.#known.get(loadBalancer.id)
    if (known?.loadBalancer === loadBalancer && known.placement === placement) return known
    const now = workOut()
    if (now.holds) this.#known.set(loadBalancer.id, { ...now, loadBalancer, placement })
    else this.#known.delete(loadBalancer.id)
    return now
  }

  /** A report of it, what a node is to have of it, or the nodes' connection or shard changed; or it is gone. */
  forget(loadBalancerId: string): void {
    this.#known.delete(loadBalancerId)
  }

  /** A name of a node or a group may have changed. */
  forgetAll(): void {
    this.#known.clear()
  }
}
