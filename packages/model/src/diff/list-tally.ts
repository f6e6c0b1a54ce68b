import { KeptLists } from './kept-lists.ts'
import { listDifference } from './list-difference.ts'

/**
 * Counts how often the items of a list name each thing. The cost depends on the difference to a list that was counted
 * before and has the same first or last item; without such a list, on the length.
 */
export class ListTally<T extends object> {
  readonly #namesOf: (item: T) => Iterable<string>
  readonly #known = new WeakMap<readonly T[], ReadonlyMap<string, number>>()
  readonly #kept = new KeptLists<T>()

  /** @param namesOf what an item names; must always return the same for the same item */
  constructor(namesOf: (item: T) => Iterable<string>) {
    this.#namesOf = namesOf
  }

  /** How often each name occurs, in no particular order. */
  of(list: readonly T[]): ReadonlyMap<string, number> {
    const known = this.#known.get(list)
    if (known !== undefined) return known
    const like = this.#kept.like(list)
    const { gone, come } = listDifference(like ?? [], list)
    const counts = new Map(like && this.#known.get(like))
    const count = (item: T, by: 1 | -1): void => {
      for (const name of this.#namesOf(item)) {
        const now = (counts.get(name) ?? 0) + by
        if (now > 0) counts.set(name, now)
        else counts.delete(name)
      }
    }
    for (const item of come) count(item, 1)
    for (const item of gone) count(item, -1)
    this.#known.set(list, counts)
    this.#kept.keep(list, like)
    return counts
  }
}
