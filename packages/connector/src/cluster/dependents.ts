/**
 * Tracks which objects depend on which others, in both directions. Objects are texts such as `service namespace/name`.
 */
export class Dependents {
  readonly #keysOf = new Map<string, Set<string>>()
  readonly #namesOf = new Map<string, ReadonlySet<string>>()

  /** The objects that depend on this one. */
  of(name: string): readonly string[] {
    return [...(this.#keysOf.get(name) ?? [])]
  }

  /** All objects that depend on any other object. */
  keys(): readonly string[] {
    return [...this.#namesOf.keys()]
  }

  has(key: string): boolean {
    return this.#namesOf.has(key)
  }

  /** Replaces what an object depends on. @returns what it depended on before */
  depend(key: string, names: ReadonlySet<string>): ReadonlySet<string> {
    const before = this.#namesOf.get(key) ?? new Set<string>()
    for (const name of before) {
      const keys = this.#keysOf.get(name)
      keys?.delete(key)
      if (keys?.size === 0) this.#keysOf.delete(name)
    }
    if (names.size === 0) this.#namesOf.delete(key)
    else this.#namesOf.set(key, names)
    for (const name of names) this.#keysOf.set(name, (this.#keysOf.get(name) ?? new Set()).add(key))
    return before
  }
}
