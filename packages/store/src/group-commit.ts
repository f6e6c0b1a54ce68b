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

/** The pause before a flush of items that all yield is this many times as long as the flush before it. */
const PAUSE_FACTOR = 3
/** Nobody waits longer than this for the next flush. */
const LONGEST_PAUSE_MS = 20
/** After an item that does not yield, another one is expected for this long. */
const COMES_AGAIN_MS = 100
/**
 * How many items that yield go along with those that do not. A flush of few takes about as long as of one: 0.3 ms of
 * processor time, and 0.03 ms more for each.
 */
const MOST_ALONG = 16

/**
 * Collects the items submitted within one turn of the event loop, or during the flush before, and flushes them together.
 * One flush is under way at a time: so the slower the disk, the more share a flush.
 *
 * An item waits for the flush under way, and then for its own. While somebody writes all the time, every other item
 * would find a flush under way, and most often a long one. So the disk rests before a flush of items that all yield. The
 * pause ends when an item comes that does not yield. It is longest while such items come one after the other: most items
 * that yield then go along with those, and cause no flush that those would have to wait for.
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
  /** When the last item came that does not yield (`monotonicMs`). */
  #cameMs = Number.NEGATIVE_INFINITY
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
      if (!yields) {
        this.#cameMs = this.#clock.monotonicMs()
        this.#endPause?.()
      }
      this.#flushing ??= this.#flushAll()
    })
  }

  /** Rejects what waits for the flush under way: that one may take long. Not what is in it. */
  refuse(error: unknown): void {
    const waiting = this.#queue
    this.#queue = []
    for (const { reject } of waiting) reject(error)
  }

  /** Resolves when nothing waits and no flush is under way. */
  async drain(): Promise<void> {
    while (this.#flushing !== null) await this.#flushing
  }

  async #flushAll(): Promise<void> {
    do {
      // More may come in the rest of this turn, also from those who were just answered.
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
    const batch = this.#takeBatch()
    const startedMs = this.#clock.monotonicMs()
    const results = await this.#settle(batch.map(({ item }) => item))
    this.#pausedUntilMs = this.#pauseEnds(startedMs, this.#clock.monotonicMs())
    for (const [index, settled] of results.entries()) {
      if ('value' in settled) batch[index]?.resolve(settled.value)
      else batch[index]?.reject(settled.error)
    }
  }

  /** Those that do not yield go first, and few others go along. */
  #takeBatch(): readonly Waiting<T, R>[] {
    const waiting = this.#queue.toSorted((one, other) => Number(one.yields) - Number(other.yields))
    const first = waiting.filter(({ yields }) => !yields).length
    const count = first === 0 ? this.#maxBatch : Math.min(this.#maxBatch, first + MOST_ALONG)
    this.#queue = waiting.slice(count)
    return waiting.slice(0, count)
  }

  #pauseEnds(startedMs: number, endedMs: number): number {
    const comesAgain = endedMs - this.#cameMs < COMES_AGAIN_MS
    const pauseMs = comesAgain ? LONGEST_PAUSE_MS : PAUSE_FACTOR * (endedMs - startedMs)
    return endedMs + Math.min(LONGEST_PAUSE_MS, pauseMs)
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
