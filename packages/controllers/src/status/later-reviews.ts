import type { Clock, Timer } from '@spout/runtime'

/** Reviews of objects whose status changes by time alone: one at most for each. */
export class LaterReviews {
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #review: (id: string) => void
  readonly #timers = new Map<string, Timer>()

  constructor(clock: Pick<Clock, 'setTimer'>, review: (id: string) => void) {
    this.#clock = clock
    this.#review = review
  }

  /** In place of one that is to come. */
  after(delayMs: number, id: string): void {
    this.#timers.get(id)?.clear()
    const due = () => {
      this.#timers.delete(id)
      this.#review(id)
    }
    this.#timers.set(id, this.#clock.setTimer(due, delayMs))
  }

  close(): void {
    for (const timer of this.#timers.values()) timer.clear()
  }
}
