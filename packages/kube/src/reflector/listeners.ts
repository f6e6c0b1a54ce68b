/** A set of listeners. One that throws stops neither the others nor the caller. */
export class Listeners<T> {
  readonly #onThrow: (error: unknown) => void
  readonly #listeners = new Set<(told: T) => void>()

  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow
  }

  /** @returns a function that removes the listener */
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
