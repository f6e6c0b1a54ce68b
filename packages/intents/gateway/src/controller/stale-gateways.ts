import type { StaleParts } from '../to-model/gateways/gateway-compilation.ts'

/** Tracks which parts of each Gateway must be compiled again. A Gateway without an entry is compiled as a whole. */
export class StaleGateways {
  readonly #parts = new Map<string, StaleParts>()

  /** Any part of the Gateway may have changed. @param gateway `namespace/name` */
  whole(gateway: string): void {
    this.#parts.delete(gateway)
  }

  /** Only these routes have changed. @param ids `kind/namespace/name`; none: only endpoints have changed */
  routes(gateway: string, ids: Iterable<string>): void {
    const known = this.of(gateway)
    if (known === 'whole') return
    this.#parts.set(gateway, new Set(known === 'nothing' ? ids : [...known, ...ids]))
  }

  of(gateway: string): StaleParts {
    return this.#parts.get(gateway) ?? 'whole'
  }

  /** The Gateway was compiled in its present state. */
  compiled(gateway: string): void {
    this.#parts.set(gateway, 'nothing')
  }
}
