import { KeptLists } from './kept-lists.ts'
import { listDifference } from './list-difference.ts'
import { SharedMap } from './shared-map.ts'

/**
 * Finds items of lists by a key. The cost of the first look-up in a list depends on its difference to a list that was
 * looked at before and has the same first or last item; without such a list, on the length.
 */
export class ListIndex<T extends object> {
  readonly #keyOf: (item: T) => string
  /** By list, its items by key; null where several items have the key, or had it in an earlier version. */
  readonly #known = new WeakMap<readonly T[], SharedMap<T | null>>()
  readonly #kept = new KeptLists<T>()

  /** @param keyOf the key of an item, always the same for the same item; empty: it cannot be looked up */
  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf
  }

  /** The first item of the list with this key. */
  find(list: readonly T[], key: string): T | undefined {
    const item = this.#of(list).get(key)
    return item === null ? list.find((one) => this.#keyOf(one) === key) : item
  }

  /** How many items of the list have this key. */
  count(list: readonly T[], key: string): number {
    const item = this.#of(list).get(key)
    if (item === undefined) return 0
    return item === null ? list.filter((one) => this.#keyOf(one) === key).length : 1
  }

  #of(list: readonly T[]): SharedMap<T | null> {
    const known = this.#known.get(list)
    if (known !== undefined) return known
    const like = this.#kept.like(list)
    const before = like && this.#known.get(like)
    // Keys that several had are never taken out, so an index that has too many is made anew.
    const isUsable = before !== undefined && before.size <= 2 * list.length
    const { gone, come } = listDifference((isUsable && like) || [], list)
    const index = (isUsable ? before : SharedMap.empty<T | null>()).draft()
    // What several have stays unclear: the others are not known here.
    for (const item of gone) if (index.get(this.#keyOf(item)) === item) index.delete(this.#keyOf(item))
    for (const item of come) {
      const key = this.#keyOf(item)
      if (key !== '') index.set(key, index.has(key) ? null : item)
    }
    const done = index.done()
    this.#known.set(list, done)
    this.#kept.keep(list, like)
    return done
  }
}
