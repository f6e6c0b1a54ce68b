import type { Clock, Timer } from '@spout/runtime'

/**
 * Gathers calls by key: the first one starts a delay, and its callback runs at the end. Calls during the delay are
 * dropped.
 */
export class Soon {
  readonly #clock: Clock
  readonly #delayMs: number
  readonly #timers = new Map<string, Timer>()

  constructor(clock: Clock, delayMs: number) {
    this.#clock = clock
    this.#delayMs = delayMs
  }

  add(key: string, callback: () => void): void {
    if (this.#timers.has(key)) return
    const timer = this.#clock.setTimer(() => {
      this.#timers.delete(key)
      callback()
    }, this.#delayMs)
    this.#timers.set(key, timer)
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.clear()
    this.#timers.clear()
  }
}
