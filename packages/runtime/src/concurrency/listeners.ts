/** A set of listeners. One that throws stops no other, and each may add and remove listeners. */
export class Listeners<T = void> {
  readonly #onThrow: ((error: unknown) => void) | null
  readonly #listeners = new Set<(told: T) => void>()

  /** @param onThrow called with each error; without it, `tell` throws the first one after all were called */
  constructor(onThrow: ((error: unknown) => void) | null = null) {
    this.#onThrow = onThrow
  }

  get size(): number {
    return this.#listeners.size
  }

  /** @returns a function that removes the listener */
  add(listener: (told: T) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  clear(): void {
    this.#listeners.clear()
  }

  /** Calls the listeners of this moment, except those that are removed meanwhile. */
  tell(told: T): void {
    let first: { readonly error: unknown } | null = null
    for (const listener of [...this.#listeners])
      try {
        if (!this.#listeners.has(listener)) continue
        listener(told)
      } catch (error) {
        if (this.#onThrow === null) first ??= { error }
        else this.#onThrow(error)
      }
    if (first !== null) throw first.error
  }
}
