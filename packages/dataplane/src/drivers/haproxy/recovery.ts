import { type Clock, restartPauseMs, type Timer } from '@spout/runtime'

export interface RecoveryOptions {
  readonly clock: Clock
  /** Makes the process be there again. */
  readonly recover: () => Promise<void>
  readonly onFailure: (error: unknown) => void
}

/** Has a process that was lost brought back, after a pause that grows while lives are short and while it fails. */
export class Recovery {
  readonly #given: RecoveryOptions
  #startedAtMs = Number.NEGATIVE_INFINITY
  #pauseMs = 0
  #timer: Timer | null = null
  #closed = false

  constructor(given: RecoveryOptions) {
    this.#given = given
  }

  /** A life begins. */
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
