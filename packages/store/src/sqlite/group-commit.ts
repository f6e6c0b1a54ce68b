import { type Clock, systemClock } from '@spout/runtime'

/** The result of one item of a batch. */
export type Settled<R> = { readonly value: R } | { readonly error: unknown }

interface Waiting<T, R> {
  readonly item: T
  readonly yields: boolean
  readonly resolve: (value: R) => void
  readonly reject: (error: unknown) => void
}

export interface GroupCommitOptions {
  readonly maxBatch: number
  readonly clock?: Clock
}

/** Items that yield alone have a quarter of the disk's time. */
const PAUSE_FACTOR = 3
/** A disk that takes long for a flush does not make anybody wait longer than this for the next. */
const LONGEST_PAUSE_MS = 20

/**
 * Collects the items submitted within one turn of the event loop, or during the flush before, and flushes them together.
 * One flush is under way at a time: so the slower the disk, the more share a flush.
 *
 * An item waits for the flush under way, and then for its own. While somebody writes all the time, every other item
 * would meet a flush, and most often one that takes long. So items that yield leave the disk idle between two flushes,
 * until one comes that does not yield.
 */
export class GroupCommit<T, R> {
  readonly #flush: (batch: readonly T[]) => Promise<readonly Settled<R>[]>
  readonly #maxBatch: number
  readonly #clock: Clock
  #queue: Waiting<T, R>[] = []
  /** Until the queue is empty; null when it is. */
  #flushing: Promise<void> | null = null
  /** When the pause after the last flush ends (`monotonicMs`). */
  #pausedUntilMs = Number.NEGATIVE_INFINITY
  /** Ends a pause; null without one. */
  #endPause: (() => void) | null = null

  /** @param flush returns a result for each item, in order; an error it throws is the result of all */
  constructor(
    flush: (batch: readonly T[]) => Promise<readonly Settled<R>[]>,
    { maxBatch, clock = systemClock }: GroupCommitOptions,
  ) {
    this.#flush = flush
    this.#maxBatch = maxBatch
    this.#clock = clock
  }

  /** @param yields it may wait for a moment, so that others find an idle disk */
  submit(item: T, { yields = false }: { readonly yields?: boolean } = {}): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, yields, resolve, reject })
      if (!yields) this.#endPause?.()
      this.#flushing ??= this.#flushAll()
    })
  }

  /** Resolves when nothing waits and no flush is under way. */
  async drain(): Promise<void> {
    while (this.#flushing !== null) await this.#flushing
  }

  async #flushAll(): Promise<void> {
    do {
      // The rest of this turn, and who was just answered, may have more.
      await nextTurn()
      if (this.#queue.every(({ yields }) => yields)) await this.#pause()
      await this.#flushBatch()
    } while (this.#queue.length > 0)
    this.#flushing = null
  }

  async #pause(): Promise<void> {
    const ms = this.#pausedUntilMs - this.#clock.monotonicMs()
    if (ms <= 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#endPause = resolve
    const timer = this.#clock.setTimer(resolve, ms)
    await promise
    timer.clear()
    this.#endPause = null
  }

  async #flushBatch(): Promise<void> {
    const waiting = this.#queue.toSorted((one, other) => Number(one.yields) - Number(other.yields))
    const batch = waiting.slice(0, this.#maxBatch)
    this.#queue = waiting.slice(this.#maxBatch)
    const startedMs = this.#clock.monotonicMs()
    const results = await this.#settle(batch.map(({ item }) => item))
    const endedMs = this.#clock.monotonicMs()
    this.#pausedUntilMs = endedMs + Math.min(LONGEST_PAUSE_MS, PAUSE_FACTOR * (endedMs - startedMs))
    for (const [index, settled] of results.entries()) {
      if ('value' in settled) batch[index]?.resolve(settled.value)
      else batch[index]?.reject(settled.error)
    }
  }

  async #settle(items: readonly T[]): Promise<readonly Settled<R>[]> {
    try {
      return await this.#flush(items)
    } catch (error) {
      return items.map(() => ({ error }))
    }
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
