import type { ModelView } from '@spout/admission/contract'
import { type Clock, WorkQueue } from '@spout/runtime'

export const loadBalancerKey = (id: string): string => `lb/${id}`
const networkKey = (id: string): string => `domain/${id}`

/**
 * What waits for its plan: load balancers (`lb/<id>`) and networks (`domain/<network id>`). Bursts on one key coalesce,
 * projects take turns.
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
