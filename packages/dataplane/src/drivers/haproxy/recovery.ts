import { type Clock, restartPauseMs, type Timer } from '@spout/runtime'

export interface RecoveryOptions {
  readonly clock: Clock
  /** Starts the process again. */
  readonly recover: () => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** Recovers a process that was lost, after a delay that grows while its lifetimes are short or recovery fails. */
export class Recovery {
  readonly #given: RecoveryOptions
  #startedAtMs = Number.NEGATIVE_INFINITY
  #pauseMs = 0
  #timer: Timer | null = null
  #closed = false

  constructor(given: RecoveryOptions) {
    this.#given = given
  }

  /** The process started. */
  started(): void {
    this.#startedAtMs = this.#given.clock.monotonicMs()
  }

  later(): void {
    const { clock, recover, onFailure } = this.#given
    this.#pauseMs = restartPauseMs(this.#pauseMs, clock.monotonicMs() - this.#startedAtMs)
    this.#startedAtMs = clock.monotonicMs()
    const attempt = () => {
      recover().catch((error) => {
        onFailure(error)
        if (!this.#closed) this.later()
      })
    }
    this.#timer?.clear()
    this.#timer = clock.setTimer(attempt, this.#pauseMs)
  }

  close(): void {
    this.#closed = true
    this.#timer?.clear()
  }
}
