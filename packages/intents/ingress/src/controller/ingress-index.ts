import { Dependents, keyOf, uidOf } from '@spout/connector'
import type { Ingress, IngressClass } from '@spout/kube'

/** An Ingress as it was last seen. */
export interface IndexedIngress {
  readonly uid: string
  /** The unit that it belongs to; null when it is not ours. */
  readonly unit: string | null
}

/** The unit of an Ingress: all Ingresses of one namespace and class, which share a load balancer. */
export const unitOf = (ingress: Ingress, { metadata }: IngressClass): string =>
  `${ingress.metadata.namespace ?? ''} ${metadata.name}`
export const namespaceOf = (unit: string): string => unit.split(' ', 1)[0] ?? ''
export const classNameOf = (unit: string): string => unit.split(' ', 2)[1] ?? ''

/** Groups Ingresses into units, and tracks on which other objects units depend. */
export class IngressIndex {
  readonly #byKey = new Map<string, IndexedIngress>()
  readonly #keysOfUnit = new Map<string, Set<string>>()
  /** Which units depend on which objects, such as `service namespace/name`. */
  readonly dependents = new Dependents()

  get(key: string): IndexedIngress | null {
    return this.#byKey.get(key) ?? null
  }

  keysOf(unit: string): readonly string[] {
    return [...(this.#keysOfUnit.get(unit) ?? [])].sort()
  }

  units(): readonly string[] {
    return [...this.#keysOfUnit.keys()]
  }

  /** Number of Ingresses that are ours. */
  get count(): number {
    return this.#keysOfUnit.values().reduce((sum, keys) => sum + keys.size, 0)
  }

  /** @param unit null when the Ingress is not ours @returns the previous entry; null when there was none */
  put(key: string, ingress: Ingress | undefined, unit: string | null): IndexedIngress | null {
    const before = this.get(key)
    if (before?.unit != null && before.unit !== unit) {
      const keys = this.#keysOfUnit.get(before.unit)
      keys?.delete(key)
      if (keys?.size === 0) this.#keysOfUnit.delete(before.unit)
    }
    if (ingress === undefined) this.#byKey.delete(key)
    else this.#byKey.set(keyOf(ingress), { uid: uidOf(ingress), unit })
    if (unit !== null) this.#keysOfUnit.set(unit, (this.#keysOfUnit.get(unit) ?? new Set()).add(key))
    return before
  }
}
