import type { Clock, Timer } from '@spout/runtime'

export interface AwakeTimeOptions {
  readonly clock: Clock
  /** Called right after a standstill, with the part of it that does not count. */
  readonly onStandstill: (standstillMs: number) => void
}

/** How often the time is read. */
const TICK_MS = 250
/** A tick up to this late is a busy moment and counts. Time beyond that does not. */
const BUSY_MS = 250

/**
 * The time during which this process ran. A process that was stopped, swapped out or collecting garbage received
 * nothing meanwhile, so silence in that time means nothing: messages wait in its sockets, and its timers fire before it
 * reads them.
 */
export class AwakeTime {
  readonly #options: AwakeTimeOptions
  #lookedAtMs: number
  #excusedMs = 0
  #timer: Timer | null

  constructor(options: AwakeTimeOptions) {
    this.#options = options
    this.#lookedAtMs = options.clock.monotonicMs()
    this.#timer = this.#tick()
  }

  /** Monotonic milliseconds that stand still while the process does. */
  ms(): number {
    this.#look()
    return this.#options.clock.monotonicMs() - this.#excusedMs
  }

  close(): void {
    this.#timer?.clear()
    this.#timer = null
  }

  #look(): void {
    const nowMs = this.#options.clock.monotonicMs()
    const standstillMs = nowMs - this.#lookedAtMs - TICK_MS - BUSY_MS
    this.#lookedAtMs = nowMs
    if (standstillMs <= 0) return
    this.#excusedMs += standstillMs
    this.#options.onStandstill(standstillMs)
  }

  #tick(): Timer {
    return this.#options.clock.setTimer(() => {
      this.#look()
      if (this.#timer !== null) this.#timer = this.#tick()
    }, TICK_MS)
  }
}
