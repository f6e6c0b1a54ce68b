import type { Clock, Timer } from '@spout/runtime'

/** Schedules reviews of objects whose status changes by time alone. Each object has at most one timer. */
export class LaterReviews {
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #review: (id: string) => void
  readonly #timers = new Map<string, Timer>()

  constructor(clock: Pick<Clock, 'setTimer'>, review: (id: string) => void) {
    this.#clock = clock
    this.#review = review
  }

  /** Schedules a review of the object. It replaces one that is still due. */
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
