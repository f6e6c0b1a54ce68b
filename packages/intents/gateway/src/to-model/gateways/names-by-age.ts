import type { NamesOfRoute } from './dns-names.ts'

/** The names of routes, sorted by the age of the route, the oldest first. Adding or removing takes a binary search. */
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

  /** The index of the first entry that is not older. No two routes have the same age text. */
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
