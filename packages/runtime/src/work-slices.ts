import type { Clock } from './clock.ts'

export interface WorkSlicesOptions {
  readonly clock: Clock
  /** How long the work runs before others have their turn. */
  readonly sliceMs: number
  /** After a slice, other work runs this many times as long, if there is any. */
  readonly othersFactor: number
}

/** A turn of the event loop that took less than this was idle. */
const IDLE_TURN_MS = 0.2

/**
 * Limits how much of the event loop a kind of work takes while other work waits. After each slice the loop turns until
 * others had their share, or had nothing to do. So an idle process delays nothing, and a busy one collects more work for
 * the next slice.
 */
export class WorkSlices {
  readonly #options: WorkSlicesOptions
  /** Work since the others' last turn. */
  #workedMs = 0
  #othersRun: Promise<void> | null = null

  constructor(options: WorkSlicesOptions) {
    this.#options = options
  }

  /** Runs a piece when it is its turn. Of an asynchronous one the part up to its first wait counts. */
  async next<T>(piece: () => T): Promise<Awaited<T>> {
    while (this.#othersRun !== null) await this.#othersRun
    return await this.#run(piece)
  }

  #run<T>(piece: () => T): T {
    const { clock, sliceMs } = this.#options
    const began = clock.monotonicMs()
    try {
      return piece()
    } finally {
      this.#workedMs += clock.monotonicMs() - began
      // At once, so that in an idle process the next piece need not wait for it.
      if (this.#workedMs >= sliceMs) this.#othersRun ??= this.#letOthersRun()
    }
  }

  async #letOthersRun(): Promise<void> {
    const { clock, othersFactor } = this.#options
    let leftMs = this.#workedMs * othersFactor
    let tookMs: number
    do {
      const began = clock.monotonicMs()
      await nextTurn()
      tookMs = clock.monotonicMs() - began
      leftMs -= tookMs
    } while (leftMs > 0 && tookMs > IDLE_TURN_MS)
    this.#workedMs = 0
    this.#othersRun = null
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
