/** An index from keys to ids. Each id has one key at most. */
export class KeySets {
  readonly #keyOf = new Map<string, string>()
  readonly #ids = new Map<string, Set<string>>()

  /** Ids under this key. */
  of(key: string): ReadonlySet<string> {
    return this.#ids.get(key) ?? NONE
  }

  keyOf(id: string): string | null {
    return this.#keyOf.get(id) ?? null
  }

  /** Moves an id to a key; null removes it. */
  set(id: string, key: string | null): void {
    const before = this.#keyOf.get(id)
    if (before === (key ?? undefined)) return
    if (before !== undefined) {
      const ids = this.#ids.get(before)
      ids?.delete(id)
      if (ids?.size === 0) this.#ids.delete(before)
    }
    if (key === null) {
      this.#keyOf.delete(id)
      return
    }
    this.#keyOf.set(id, key)
    const ids = this.#ids.get(key)
    if (ids === undefined) this.#ids.set(key, new Set([id]))
    else ids.add(id)
  }
}

const NONE: ReadonlySet<string> = new Set()
