/** Lists of up to this length are looked at from scratch, which is faster than comparing them with an earlier version. */
const FEW = 64
/** How many of the lists that were looked at last are kept for comparison. */
const MOST_KEPT = 50

/** The long lists that were looked at last, to find an earlier version of one. */
export class KeptLists<T> {
  /** Weak references: a list that nobody else uses is collected. */
  #kept: readonly WeakRef<readonly T[]>[] = []

  /** A list that is probably an earlier version: it has the same first or last item. */
  like(list: readonly T[]): readonly T[] | undefined {
    if (list.length <= FEW) return undefined
    for (const ref of this.#kept) {
      const kept = ref.deref()
      if (kept !== undefined && (kept[0] === list[0] || kept.at(-1) === list.at(-1))) return kept
    }
    return undefined
  }

  /** @param replaced the earlier version of the list, which is unlikely to be looked at again */
  keep(list: readonly T[], replaced: readonly T[] | undefined): void {
    if (list.length <= FEW) return
    const others = this.#kept.filter((ref) => ref.deref() !== undefined && ref.deref() !== replaced)
    this.#kept = [new WeakRef(list), ...others].slice(0, MOST_KEPT)
  }
}
