/** A list that keeps only its newest entries. */
export class Ring<T> {
  readonly #most: number
  readonly #entries: T[] = []

  constructor(most: number) {
    this.#most = most
  }

  push(entry: T): void {
    this.#entries.push(entry)
    if (this.#entries.length > this.#most) this.#entries.shift()
  }

  /** Inserts an entry that arrived late: before the newest. */
  putBeforeLast(entry: T): void {
    this.#entries.splice(-1, 0, entry)
    if (this.#entries.length > this.#most) this.#entries.shift()
  }

  /** Oldest first. */
  entries(): readonly T[] {
    return this.#entries
  }
}
