import type { Clock, Timer } from '@spout/runtime'

interface Held {
  readonly dueMs: number
  readonly refuse: () => void
}

/**
 * Refuses requests one per round of the event loop, in the order of their times. A refusal costs time as well: a client
 * that asks on many connections and ignores `Retry-After` would otherwise have all of them refused in one go, again and
 * again, while others wait.
 */
export class Refusals {
  readonly #clock: Clock
  /** In order of `dueMs`. */
  readonly #held: Held[] = []
  #round: NodeJS.Immediate | null = null
  #timer: Timer | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#held.length
  }

  /** @param afterMs the earliest time from now */
  add(refuse: () => void, afterMs = 0): void {
    const dueMs = this.#clock.monotonicMs() + afterMs
    const after = this.#held.findLastIndex((other) => other.dueMs <= dueMs)
    this.#held.splice(after + 1, 0, { dueMs, refuse })
    if (after === -1) this.#schedule()
  }

  /** Takes all that are held. Nothing is refused afterwards. */
  close(): readonly (() => void)[] {
    if (this.#round !== null) clearImmediate(this.#round)
    this.#timer?.clear()
    return this.#held.splice(0).map(({ refuse }) => refuse)
  }

  #schedule(): void {
    const [first] = this.#held
    if (first === undefined || this.#round !== null) return
    this.#timer?.clear()
    const afterMs = first.dueMs - this.#clock.monotonicMs()
    if (afterMs > 0) this.#timer = this.#clock.setTimer(() => this.#schedule(), afterMs)
    else this.#round = setImmediate(() => this.#next())
  }

  #next(): void {
    this.#round = null
    this.#held.shift()?.refuse()
    this.#schedule()
  }
}
