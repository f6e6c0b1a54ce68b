import type { Clock, Timer } from '@spout/runtime'

export interface AwakeTimeOptions {
  readonly clock: Clock
  /** Called right after a standstill, with its duration without the part that counts as awake. */
  readonly onStandstill: (standstillMs: number) => void
}

/** How often the time is read. */
const TICK_MS = 250
/** A tick that is late by up to this much counts as awake: the process was busy. Time beyond that does not count. */
const BUSY_MS = 250

/**
 * Measures the time during which this process ran. While a process is stopped, swapped out or collecting garbage, it
 * receives nothing: messages wait in its sockets, and afterwards its timers fire before it reads them. So silence in
 * that time says nothing about nodes.
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

  /** Monotonic milliseconds, without standstills of the process. */
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
