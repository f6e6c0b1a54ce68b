/** Who is told of something. A throw of one ends neither the telling nor the teller. */
export class Listeners<T> {
  readonly #onThrow: (error: unknown) => void
  readonly #listeners = new Set<(told: T) => void>()

  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow
  }

  /** @returns what ends it */
  add(listener: (told: T) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(told: T): void {
    for (const listener of this.#listeners)
      try {
        listener(told)
      } catch (error) {
        this.#onThrow(error)
      }
  }
}
