import type { Clock, Timer } from '@spout/runtime'

/** Repeats tasks, with a pause between the end of one turn and the start of the next. */
export class Repeats {
  readonly #clock: Clock
  readonly #timers = new Map<string, Timer>()
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Repeats `work`, first after a pause.
   * @param pauseMs asked before each pause, if it is a function
   * @param work must not reject
   */
  every(name: string, pauseMs: number | (() => number), work: () => Promise<void> | void): void {
    const turn = async () => {
      await work()
      if (!this.#isClosed) this.every(name, pauseMs, work)
    }
    this.#timers.set(
      name,
      this.#clock.setTimer(() => void turn(), typeof pauseMs === 'number' ? pauseMs : pauseMs()),
    )
  }

  /** No further turn begins. */
  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers.values()) timer.clear()
  }
}
