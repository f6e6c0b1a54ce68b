/**
 * A list whose items are rendered only when it is written, so that a long answer takes no memory before its reader
 * takes it. `JSON.stringify` renders all items at once, as an array.
 */
export class LongList {
  readonly isEmpty: boolean
  readonly #shown: () => Iterable<unknown>

  /**
   * @param show renders one item. It is called each time the list is written, so what it reads must not change
   * meanwhile
   */
  static of<T>(items: readonly T[], show: (item: T) => unknown): LongList {
    return new LongList(items.length === 0, () => Iterator.from(items).map(show))
  }

  private constructor(isEmpty: boolean, shown: () => Iterable<unknown>) {
    this.isEmpty = isEmpty
    this.#shown = shown
  }

  [Symbol.iterator](): Iterator<unknown> {
    return this.#shown()[Symbol.iterator]()
  }

  toJSON(): unknown[] {
    return [...this.#shown()]
  }
}
