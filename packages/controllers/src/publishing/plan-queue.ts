import type { ModelView } from '@spout/admission/contract'
import { loadBalancerKey } from '@spout/model'
import { type Clock, WorkQueue } from '@spout/runtime'

const NETWORK = 'network/'
const networkKey = (id: string): string => `${NETWORK}${id}`
/** The network's id; null for a load balancer's key. */
export const networkOfKey = (key: string): string | null => (key.startsWith(NETWORK) ? key.slice(NETWORK.length) : null)

/**
 * A queue of keys that must be planned: load balancers, by the key of their entries, and networks (`network/<id>`).
 * Several changes of one key coalesce, and projects take turns.
 */
export class PlanQueue {
  readonly keys: WorkQueue
  readonly #view: ModelView

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

  networkAfter(id: string, delayMs: number): void {
    this.keys.addAfter(networkKey(id), delayMs, this.#view.get('network', id)?.value.projectId)
  }
}
