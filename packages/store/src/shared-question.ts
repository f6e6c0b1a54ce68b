/**
 * Asks for something that changes. Each call gets an answer to a question that was sent after it. Calls that come while a
 * question is under way share the next one.
 */
export class SharedQuestion<T> {
  readonly #ask: () => Promise<T>
  #asked: Promise<T> | null = null
  #next: Promise<T> | null = null

  constructor(ask: () => Promise<T>) {
    this.#ask = ask
  }

  ask(): Promise<T> {
    if (this.#asked === null) return this.#send()
    const answered = this.#asked.then(
      () => {},
      () => {},
    )
    this.#next ??= answered.then(() => {
      this.#next = null
      return this.#send()
    })
    return this.#next
  }

  #send(): Promise<T> {
    const asked = this.#ask().finally(() => {
      if (this.#asked === asked) this.#asked = null
    })
    this.#asked = asked
    return asked
  }
}
