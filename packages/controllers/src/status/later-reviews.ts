import type { Clock, Timer } from '@spout/runtime'

/** Reviews objects whose status changes with time alone. Each object has one timer at most. */
export class LaterReviews {
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #review: (id: string) => void
  readonly #timers = new Map<string, Timer>()

  constructor(clock: Pick<Clock, 'setTimer'>, review: (id: string) => void) {
    this.#clock = clock
    this.#review = review
  }

  /** Replaces the review that is still to come. */
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
