import type { StaleParts } from '../to-model/gateway-compilation.ts'

/** What of each Gateway is to be compiled again. A Gateway of which nobody said anything is compiled as a whole. */
export class StaleGateways {
  readonly #parts = new Map<string, StaleParts>()

  /** Whatever it is made of may be another. @param gateway `namespace/name` */
  whole(gateway: string): void {
    this.#parts.delete(gateway)
  }

  /** These routes are others, by `kind/namespace/name`; none: endpoints alone. */
  routes(gateway: string, ids: Iterable<string>): void {
    const known = this.of(gateway)
    if (known === 'whole') return
    this.#parts.set(gateway, new Set(known === 'nothing' ? ids : [...known, ...ids]))
  }

  of(gateway: string): StaleParts {
    return this.#parts.get(gateway) ?? 'whole'
  }

  /** It was compiled as it is. */
  compiled(gateway: string): void {
    this.#parts.set(gateway, 'nothing')
  }
}
