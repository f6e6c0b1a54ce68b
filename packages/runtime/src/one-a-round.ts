/**
 * Lets each line go on once in a round of the event loop, in order. The first of a line in a round does not wait: so a
 * line of one never does, and a line of many is spread over rounds in which others have their turns.
 */
export class OneARound {
  /** Those who wait, of every line that had its turn in this round. */
  readonly #lines = new Map<string, (() => void)[]>()

  /** Calls `go` now, or in a later round. */
  begin(line: string, go: () => void): void {
    const waiting = this.#lines.get(line)
    if (waiting !== undefined) {
      waiting.push(go)
      return
    }
    if (this.#lines.size === 0) setImmediate(() => this.#round())
    this.#lines.set(line, [])
    go()
  }

  /** Resolves when it is the caller's turn. */
  turn(line: string): Promise<void> {
    return new Promise((go) => this.begin(line, go))
  }

  #round(): void {
    const next: (() => void)[] = []
    for (const [line, waiting] of this.#lines) {
      const first = waiting.shift()
      if (first === undefined) this.#lines.delete(line)
      else next.push(first)
    }
    if (this.#lines.size > 0) setImmediate(() => this.#round())
    for (const go of next) go()
  }
}
