import type { ModelView } from '@spout/admission/contract'
import { loadBalancerKey } from '@spout/model'
import { type Clock, WorkQueue } from '@spout/runtime'

/** How many plans may wait for their commits at the same time. Commits share a disk flush. */
export const PLAN_WORKERS = 64

const NETWORK = 'network/'
const networkKey = (id: string): string => `${NETWORK}${id}`
/** The network's id; null for a load balancer's key. */
export const networkOfKey = (key: string): string | null => (key.startsWith(NETWORK) ? key.slice(NETWORK.length) : null)

/** Ids of what is to be planned. */
export interface Planned {
  readonly networks: Iterable<string>
  readonly loadBalancers: Iterable<string>
}

interface Awaited {
  readonly keys: Set<string>
  readonly then: () => void
}

/**
 * A queue of keys that must be planned: load balancers, by the key of their entries, and networks (`network/<id>`).
 * Several changes of one key coalesce, and projects take turns.
 */
export class PlanQueue {
  readonly keys: WorkQueue
  readonly #view: ModelView
  readonly #awaited = new Set<Awaited>()

  constructor({ view, clock }: { readonly view: ModelView; readonly clock: Clock }) {
    this.keys = new WorkQueue({ clock })
    this.#view = view
  }

  loadBalancer(id: string): void {
    this.keys.add(loadBalancerKey(id), this.#view.get('loadBalancer', id)?.value.projectId)
  }

  loadBalancers(ids: Iterable<string>): void {
    for (const id of ids) this.loadBalancer(id)
  }

  network(id: string | null): void {
    if (id !== null) this.keys.add(networkKey(id), this.#view.get('network', id)?.value.projectId)
  }

  plan({ networks, loadBalancers }: Planned): void {
    for (const id of networks) this.network(id)
    this.loadBalancers(loadBalancers)
  }

  /** As `plan`. Calls `then` once each was planned, or could not be: one that fails makes nobody wait. */
  planThen(planned: Planned, then: () => void): void {
    const networks = Array.from(planned.networks, networkKey)
    const keys = new Set([...networks, ...Array.from(planned.loadBalancers, loadBalancerKey)])
    this.plan(planned)
    if (keys.size === 0) then()
    else this.#awaited.add({ keys, then })
  }

  /** Call when a key was planned, or could not be. One that was added meanwhile is still awaited. */
  planned(key: string): void {
    if (this.keys.comesBack(key)) return
    for (const awaited of this.#awaited) {
      if (!awaited.keys.delete(key) || awaited.keys.size > 0) continue
      this.#awaited.delete(awaited)
      awaited.then()
    }
  }

  networkAfter(id: string, delayMs: number): void {
    this.keys.addAfter(networkKey(id), delayMs, this.#view.get('network', id)?.value.projectId)
  }
}
