import type { Clock, Timer } from './clock.ts'

interface Pending {
  readonly at: number
  readonly order: number
  readonly callback: () => void
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #epochMs: number
  #elapsedMs = 0
  #order = 0
  /** In the order in which they fire. */
  readonly #pending: Pending[] = []

  constructor(start = new Date('2026-01-01T00:00:00.000Z')) {
    this.#epochMs = start.getTime()
  }

  now(): Date {
    return new Date(this.#epochMs + this.#elapsedMs)
  }

  monotonicMs(): number {
    return this.#elapsedMs
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const timer: Pending = { at: this.#elapsedMs + Math.max(0, delayMs), order: this.#order++, callback }
    this.#pending.splice(this.#placeOf(timer), 0, timer)
    return { clear: () => this.#remove(timer) }
  }

  /** How many timers are set and have not fired. */
  get timers(): number {
    return this.#pending.length
  }

  /** Changes wall-clock time only, as a correction of the system clock does. */
  jump(byMs: number): void {
    this.#epochMs += byMs
  }

  /** Lets time pass without firing timers, as in a stopped process. Due timers fire at the next `advance`. */
  stall(byMs: number): void {
    this.#elapsedMs += byMs
  }

  /** Moves time on and fires due timers in order. Promises settle between two timers. */
  async advance(byMs: number): Promise<void> {
    const end = this.#elapsedMs + byMs
    await settled()
    for (;;) {
      const next = this.#pending[0]
      if (next === undefined || next.at > end) break
      this.#pending.shift()
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at)
      next.callback()
      await settled()
    }
    this.#elapsedMs = end
  }

  #remove(timer: Pending): void {
    const place = this.#placeOf(timer)
    if (this.#pending[place] === timer) this.#pending.splice(place, 1)
  }

  /** Where it stands in the list, or would stand. */
  #placeOf(timer: Pending): number {
    let [from, to] = [0, this.#pending.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (isBefore(this.#pending[middle]!, timer)) from = middle + 1
      else to = middle
    }
    return from
  }
}

const isBefore = (a: Pending, b: Pending): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
