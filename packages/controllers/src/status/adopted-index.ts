import type { ModelView } from '@spout/admission/contract'
import type { LoadBalancer } from '@spout/model'

/** Finds the load balancers that show what nodes carry by their own settings, by group and name. */
export class AdoptedIndex {
  readonly #view: ModelView
  /** Id by group and name, and the other way round. */
  readonly #ids = new Map<string, string>()
  readonly #keys = new Map<string, string>()

  constructor(view: ModelView) {
    this.#view = view
    for (const { id } of view.list('loadBalancer')) this.changed(id)
  }

  /** Call when a load balancer was stored or deleted. */
  changed(id: string): void {
    const next = this.#view.get('loadBalancer', id)?.value
    const before = this.#keys.get(id)
    if (before !== undefined) {
      this.#keys.delete(id)
      this.#ids.delete(before)
    }
    if (next?.localName === undefined) return
    const key = keyOf(next.nodeGroupId, next.localName)
    this.#keys.set(id, key)
    this.#ids.set(key, id)
  }

  get(nodeGroupId: string, name: string): LoadBalancer | null {
    return this.#view.get('loadBalancer', this.#ids.get(keyOf(nodeGroupId, name)) ?? '')?.value ?? null
  }

  /** All of a group. */
  ofGroup(nodeGroupId: string): readonly LoadBalancer[] {
    const all = [...this.#keys.keys()].flatMap((id) => this.#view.get('loadBalancer', id)?.value ?? [])
    return all.filter((one) => one.nodeGroupId === nodeGroupId)
  }

  /** Ids of the groups that have some. */
  groups(): ReadonlySet<string> {
    return new Set([...this.#keys.keys()].flatMap((id) => this.#view.get('loadBalancer', id)?.value.nodeGroupId ?? []))
  }
}

const keyOf = (nodeGroupId: string | null, name: string): string => `${nodeGroupId} ${name}`
