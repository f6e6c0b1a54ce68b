/** Waiting keys of groups (tenants) that take turns: a burst of one delays its own keys only. */
export class Turns {
  /** The map's order is the order of turns. */
  readonly #waiting = new Map<string, Set<string>>()

  get size(): number {
    let count = 0
    for (const keys of this.#waiting.values()) count += keys.size
    return count
  }

  has(key: string, group: string): boolean {
    return this.#waiting.get(group)?.has(key) ?? false
  }

  add(key: string, group: string): void {
    const keys = this.#waiting.get(group)
    if (keys === undefined) this.#waiting.set(group, new Set([key]))
    else keys.add(key)
  }

  /** The next key; null when none waits. */
  take(): string | null {
    for (const [group, keys] of this.#waiting) {
      this.#waiting.delete(group)
      for (const key of keys) {
        keys.delete(key)
        // The group goes behind the others.
        if (keys.size > 0) this.#waiting.set(group, keys)
        return key
      }
    }
    return null
  }

  clear(): void {
    this.#waiting.clear()
  }
}
