import { uidOf } from '@spout/connector'
import type { Service } from '@spout/kube'
import type { Ownership } from '../to-model/ownership.ts'
import { aloneUnit, unitOf } from '../to-model/sharing.ts'

/** What the index knows of a Service. */
export interface IndexedService {
  readonly uid: string
  readonly ownership: Ownership
  /** The unit that it belongs to; null when it is not ours. */
  readonly unit: string | null
}

/** Groups Services into units: Services that are decided together, since they may share an address. */
export class ServiceIndex {
  readonly #byKey = new Map<string, IndexedService>()
  readonly #keysOfUnit = new Map<string, Set<string>>()

  get(key: string): IndexedService | null {
    return this.#byKey.get(key) ?? null
  }

  keysOf(unit: string): readonly string[] {
    return [...(this.#keysOfUnit.get(unit) ?? [])].sort()
  }

  units(): Iterable<string> {
    return this.#keysOfUnit.keys()
  }

  /** Number of Services of this ownership. */
  count(ownership: Ownership): number {
    let count = 0
    for (const one of this.#byKey.values()) if (one.ownership === ownership) count++
    return count
  }

  /** @returns the entry before and after; null for a Service that does not exist */
  put(
    key: string,
    service: Service | undefined,
    ownership: Ownership,
  ): { readonly before: IndexedService | null; readonly after: IndexedService | null } {
    const before = this.get(key)
    const after = service === undefined ? null : { uid: uidOf(service), ownership, unit: unitFor(service, ownership) }
    if (before?.unit != null && before.unit !== after?.unit) {
      const keys = this.#keysOfUnit.get(before.unit)
      keys?.delete(key)
      if (keys?.size === 0) this.#keysOfUnit.delete(before.unit)
    }
    if (after === null) this.#byKey.delete(key)
    else this.#byKey.set(key, after)
    if (after?.unit != null) {
      const keys = this.#keysOfUnit.get(after.unit) ?? new Set()
      this.#keysOfUnit.set(after.unit, keys.add(key))
    }
    return { before, after }
  }
}

/** A Service whose sharing annotations are invalid is a unit of its own. The plan of that unit refuses it. */
function unitFor(service: Service, ownership: Ownership): string | null {
  if (ownership !== 'ours') return null
  const unit = unitOf(service)
  return 'refusal' in unit ? aloneUnit(service) : unit.value
}
