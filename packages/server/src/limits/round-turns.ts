/**
 * Turns of those who have long work done in pieces. In one round of the event loop each has one piece made. So whoever
 * asks for something short waits for one piece of each, however much work one of them has under way.
 */
export class RoundTurns {
  /** By who waits; each in the order that they came. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #round: NodeJS.Immediate | null = null

  /** Resolves when the next piece may be made, never within this round. Waits as long as it takes: pieces are short. */
  next(who: string): Promise<void> {
    return new Promise((go) => {
      const line = this.#waiting.get(who)
      if (line === undefined) this.#waiting.set(who, [go])
      else line.push(go)
      this.#round ??= setImmediate(() => this.#serve())
    })
  }

  #serve(): void {
    this.#round = null
    for (const [who, line] of this.#waiting) {
      line.shift()?.()
      if (line.length === 0) this.#waiting.delete(who)
    }
    if (this.#waiting.size > 0) this.#round = setImmediate(() => this.#serve())
  }
}
