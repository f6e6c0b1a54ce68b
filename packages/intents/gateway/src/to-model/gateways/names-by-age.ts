import type { NamesOfRoute } from './dns-names.ts'

/** Names of routes, those of the oldest first. One route's come and go without a look at the others'. */
export class NamesByAge {
  readonly #sorted: NamesOfRoute[] = []

  get all(): readonly NamesOfRoute[] {
    return this.#sorted
  }

  /** Names that request nothing are left out. */
  add(names: NamesOfRoute): void {
    if (names.asked.length > 0) this.#sorted.splice(this.#placeOf(names), 0, names)
  }

  remove(names: NamesOfRoute): void {
    const at = this.#placeOf(names)
    if (this.#sorted[at]?.age === names.age) this.#sorted.splice(at, 1)
  }

  /** The place of the first that is not older: ages are of one route each. */
  #placeOf({ age }: NamesOfRoute): number {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#sorted[middle]!.age < age) low = middle + 1
      else high = middle
    }
    return low
  }
}
