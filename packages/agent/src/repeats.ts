import type { Clock, Timer } from '@spout/runtime'

/**
 * Repeats tasks. Turns begin at multiples of their pause since this was made, so that tasks with related pauses run in
 * one wake-up of the process: wake-ups are most of what an idle agent costs.
 */
export class Repeats {
  readonly #clock: Clock
  readonly #beganMs: number
  readonly #timers = new Map<string, Timer>()
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#beganMs = clock.monotonicMs()
  }

  /**
   * Repeats `work`, first after a pause. Between the end of one turn and the start of the next there is at least half a
   * pause.
   * @param pauseMs asked before each pause, if it is a function
   * @param work must not reject
   */
  every(name: string, pauseMs: number | (() => number), work: () => Promise<void> | void): void {
    const turn = async () => {
      await work()
      if (!this.#isClosed) this.every(name, pauseMs, work)
    }
    const ms = typeof pauseMs === 'number' ? pauseMs : pauseMs()
    this.#timers.set(
      name,
      this.#clock.setTimer(() => void turn(), this.#untilNextMs(ms)),
    )
  }

  /** No further turn begins. */
  close(): void {
    this.#isClosed = true
    for (const timer of this.#timers.values()) timer.clear()
  }

  /** Milliseconds until the multiple of the pause that is nearest to a whole pause from now. */
  #untilNextMs(pauseMs: number): number {
    if (pauseMs === 0) return 0
    const sinceMs = this.#clock.monotonicMs() - this.#beganMs
    return Math.round((sinceMs + pauseMs) / pauseMs) * pauseMs - sinceMs
  }
}
