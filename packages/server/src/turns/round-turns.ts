import type { Clock } from '@spout/runtime'

export interface RoundTurnsOptions {
  readonly clock: Clock
  /** Whether somebody else than `who` sent a request just now. Default: never. */
  readonly othersAsk?: (who: string) => boolean
}

/** How long work runs between two pauses, while others ask. */
const SLICE_MS = 0.5
/** A pause is this many times as long as the work before it. */
const PAUSE_FACTOR = 3

/**
 * Schedules long work that is done in pieces, such as a list of thousands of objects.
 *
 * One piece is made per round of the event loop, and those who wait take turns. While others send requests, long work
 * gets a quarter of the time and pauses for the rest: a request takes several rounds, and would otherwise wait for a
 * piece in each of them.
 */
export class RoundTurns {
  readonly #options: RoundTurnsOptions
  /** Waiting pieces by owner, in order. An owner that had a turn goes to the end. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false
  #startedMs = 0
  /** Work since the last pause. */
  #workMs = 0

  constructor(options: RoundTurnsOptions) {
    this.#options = options
  }

  /** Resolves when the next piece may be made, never within this round. There is no time-out: pieces are short. */
  next(who: string): Promise<void> {
    return new Promise((go) => {
      const line = this.#waiting.get(who)
      if (line === undefined) this.#waiting.set(who, [go])
      else line.push(go)
      if (!this.#isScheduled) this.#schedule()
    })
  }

  /**
   * Makes the next piece and measures its time. Immediates that are set together run one after the other, so the second
   * runs as soon as the piece is made.
   */
  #schedule(): void {
    this.#isScheduled = true
    let served: string | null = null
    setImmediate(() => {
      served = this.#serve()
    })
    setImmediate(() => this.#rest(served))
  }

  #serve(): string | null {
    this.#startedMs = this.#options.clock.monotonicMs()
    for (const [who, line] of this.#waiting) {
      line.shift()?.()
      this.#waiting.delete(who)
      if (line.length > 0) this.#waiting.set(who, line)
      return who
    }
    return null
  }

  #rest(served: string | null): void {
    const { clock, othersAsk } = this.#options
    this.#workMs += clock.monotonicMs() - this.#startedMs
    if (this.#waiting.size === 0) {
      this.#isScheduled = false
      return
    }
    let pauseMs = 0
    if (this.#workMs >= SLICE_MS) {
      if (served !== null && othersAsk?.(served) === true) pauseMs = this.#workMs * PAUSE_FACTOR
      this.#workMs = 0
    }
    if (pauseMs === 0) this.#schedule()
    else clock.setTimer(() => this.#schedule(), pauseMs)
  }
}
