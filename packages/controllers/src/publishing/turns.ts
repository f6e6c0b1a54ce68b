/**
 * Ids in the order in which a `WorkQueue` would hand them out to idle workers: each worker gets one as it is added. The
 * others wait, and groups (tenants) take turns.
 */
export class Turns {
  #idle: number
  readonly #handedOut = new Set<string>()
  /** Waiting ids by group. The map's order is the order of turns. */
  readonly #waiting = new Map<string, Set<string>>()

  constructor(workers: number) {
    this.#idle = workers
  }

  add(id: string, group = ''): void {
    if (this.#handedOut.has(id)) return
    if (this.#idle > 0) {
      this.#idle--
      this.#handedOut.add(id)
      return
    }
    const ids = this.#waiting.get(group)
    if (ids === undefined) this.#waiting.set(group, new Set([id]))
    else ids.add(id)
  }

  /** The next id; null when none is left. */
  take(): string | null {
    for (const id of this.#handedOut) {
      this.#handedOut.delete(id)
      return id
    }
    for (const [group, ids] of this.#waiting) {
      this.#waiting.delete(group)
      for (const id of ids) {
        ids.delete(id)
        // The group goes behind the others.
        if (ids.size > 0) this.#waiting.set(group, ids)
        return id
      }
    }
    return null
  }
}
