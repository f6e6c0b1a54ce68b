import { SpoutError } from '@spout/model'
import type { Clock, Timer } from '@spout/runtime'

interface Waiting {
  readonly from: string
  readonly go: () => void
}

export interface PaceOptions {
  readonly clock: Clock
  /** Time between two turns. */
  readonly intervalMs: number
  readonly maxWaiting: number
  /** Limit for one `from`, so that it alone cannot fill the queue. */
  readonly maxWaitingEach: number
}

/** Gives turns at a limited rate, in order. It stops by itself when nobody waits at a turn. */
export class Pace {
  readonly #options: PaceOptions
  readonly #onIdle: () => void
  readonly #waiting: Waiting[] = []
  #timer: Timer | null = null

  /** @param onIdle called when nobody waits and the next turn may be at once */
  constructor(options: PaceOptions, onIdle: () => void) {
    this.#options = options
    this.#onIdle = onIdle
  }

  /** @throws SpoutError Unavailable when too many wait */
  async turn(from: string): Promise<void> {
    const { maxWaiting, maxWaitingEach } = this.#options
    if (this.#timer === null) return this.#rest()
    const own = this.#waiting.filter((other) => other.from === from).length
    if (own >= maxWaitingEach || this.#waiting.length >= maxWaiting)
      throw new SpoutError('Unavailable', { what: 'Login', reason: 'many logins failed, and too many wait' })
    await new Promise<void>((resolve) => this.#waiting.push({ from, go: resolve }))
  }

  #rest(): void {
    const { clock, intervalMs } = this.#options
    this.#timer = clock.setTimer(() => {
      this.#timer = null
      const next = this.#waiting.shift()
      if (next === undefined) return this.#onIdle()
      this.#rest()
      next.go()
    }, intervalMs)
  }
}
