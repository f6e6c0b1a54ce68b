import { listDifference } from './list-difference.ts'

/** Lists of up to this length are counted from scratch, which is faster than comparing them with an earlier version. */
const FEW = 64
/** How many of the lists that were counted last are kept for comparison. */
const MOST_KEPT = 50

/**
 * Counts how often the items of a list name each thing. The cost depends on the difference to a list that was counted
 * before and has the same first or last item; without such a list, on the length.
 */
export class ListTally<T extends object> {
  readonly #namesOf: (item: T) => Iterable<string>
  readonly #known = new WeakMap<readonly T[], ReadonlyMap<string, number>>()
  /** Weak references: a list that nobody else uses is collected. */
  #kept: readonly WeakRef<readonly T[]>[] = []

  /** @param namesOf what an item names; must always return the same for the same item */
  constructor(namesOf: (item: T) => Iterable<string>) {
    this.#namesOf = namesOf
  }

  /** How often each name occurs, in no particular order. */
  of(list: readonly T[]): ReadonlyMap<string, number> {
    const known = this.#known.get(list)
    if (known !== undefined) return known
    const like = list.length > FEW ? this.#listLike(list) : undefined
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
    if (list.length > FEW) this.#keep(list, like)
    return counts
  }

  #listLike(list: readonly T[]): readonly T[] | undefined {
    for (const ref of this.#kept) {
      const kept = ref.deref()
      if (kept !== undefined && (kept[0] === list[0] || kept.at(-1) === list.at(-1))) return kept
    }
    return undefined
  }

  /** @param replaced the earlier version of the list, which is unlikely to be counted again */
  #keep(list: readonly T[], replaced: readonly T[] | undefined): void {
    const others = this.#kept.filter((ref) => ref.deref() !== undefined && ref.deref() !== replaced)
    this.#kept = [new WeakRef(list), ...others].slice(0, MOST_KEPT)
  }
}
