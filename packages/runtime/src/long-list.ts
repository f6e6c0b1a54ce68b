/**
 * A list whose items are shown when somebody writes them down: an answer of very many takes no memory before its reader
 * takes it. `JSON.stringify` writes it as an array, and shows all of them at once for that.
 */
export class LongList {
  readonly #shown: () => Iterable<unknown>

  /** @param show called once for each item each time that the list is written; what it reads must not change meanwhile */
  static of<T>(items: readonly T[], show: (item: T) => unknown): LongList {
    return new LongList(() => Iterator.from(items).map(show))
  }

  private constructor(shown: () => Iterable<unknown>) {
    this.#shown = shown
  }

  [Symbol.iterator](): Iterator<unknown> {
    return this.#shown()[Symbol.iterator]()
  }

  toJSON(): unknown[] {
    return [...this.#shown()]
  }
}
