import { listDifference } from './list-difference.ts'

/** Counting a shorter list takes less time than finding its last count. */
const FEW = 64
/** Lists kept: those that were counted last. */
const MOST_KEPT = 50

/**
 * Counts what the items of lists name. A list that shares its first or last item with one of the last lists costs what
 * the two differ in.
 */
export class ListTally<T extends object> {
  readonly #namesOf: (item: T) => Iterable<string>
  readonly #known = new WeakMap<readonly T[], ReadonlyMap<string, number>>()
  /** Weak: a list that nobody else has any more is gone. */
  #kept: readonly WeakRef<readonly T[]>[] = []

  /** @param namesOf what an item names, which never changes */
  constructor(namesOf: (item: T) => Iterable<string>) {
    this.#namesOf = namesOf
  }

  /** How often each name occurs, in no order. */
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

  /** @param replaced a version of the list that is not asked for again */
  #keep(list: readonly T[], replaced: readonly T[] | undefined): void {
    const others = this.#kept.filter((ref) => ref.deref() !== undefined && ref.deref() !== replaced)
    this.#kept = [new WeakRef(list), ...others].slice(0, MOST_KEPT)
  }
}
