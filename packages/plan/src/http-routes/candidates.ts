/**
 * An index of routes by the keys of classes that they name (of hosts, or of paths). It finds the routes that can match
 * in a class: those that name one of its keys, and those that name none.
 */
export class Candidates<Route> {
  readonly #rank = new Map<Route, number>()
  readonly #naming = new Map<string, Route[]>()
  readonly #others: Route[] = []

  /** @param keys of the only classes in which the route can match; undefined: it can match in all */
  add(route: Route, keys: readonly string[] | undefined): void {
    this.#rank.set(route, this.#rank.size)
    if (keys === undefined) this.#others.push(route)
    for (const key of new Set(keys)) {
      const known = this.#naming.get(key)
      if (known === undefined) this.#naming.set(key, [route])
      else known.push(route)
    }
  }

  /** The routes that can match in a class with these keys, in the order in which they were added. */
  of(keys: Iterable<string>): readonly Route[] {
    const lists: (readonly Route[])[] = []
    for (const key of keys) {
      const list = this.#naming.get(key)
      if (list !== undefined) lists.push(list)
    }
    if (lists.length === 0) return this.#others
    if (lists.length === 1 && this.#others.length === 0) return lists[0]!
    const rankOf = (route: Route): number => this.#rank.get(route) ?? 0
    return [...new Set([...lists.flat(), ...this.#others])].sort((a, b) => rankOf(a) - rankOf(b))
  }
}
