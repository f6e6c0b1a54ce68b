import { type Clock, systemClock, WorkSlices } from '@spout/runtime'

/** The result of one item of a batch. */
export type Settled<R> = { readonly value: R } | { readonly error: unknown }

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (value: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * After every flush, other work gets three times as long as the flush took. Then a process that is busy spends at most
 * a quarter of its time on flushes: what waits for one is answered sooner when it shares it with more.
 */
const SLICES = { sliceMs: Number.MIN_VALUE, othersFactor: 3 } as const

/**
 * Collects the items submitted within one turn of the event loop, or during the flush before it, and flushes them
 * together. A flush is synchronous. While there is other work, it has three times as long as the flush before took: so a
 * slow disk holds up a busy process a quarter of the time at most, and a flush is shared by more. A long queue is flushed
 * one batch a turn, so that reads run in between.
 */
export class GroupCommit<T, R> {
  readonly #flush: (batch: readonly T[]) => readonly Settled<R>[]
  readonly #maxBatch: number
  readonly #slices: WorkSlices
  #queue: Waiting<T, R>[] = []
  #scheduled = false

  /** @param flush returns a result for each item, in order; an error it throws is the result of all */
  constructor(flush: (batch: readonly T[]) => readonly Settled<R>[], maxBatch: number, clock: Clock = systemClock) {
    this.#flush = flush
    this.#slices = new WorkSlices({ ...SLICES, clock })
    this.#maxBatch = maxBatch
  }

  submit(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject })
      this.#schedule()
    })
  }

  /** Flushes all waiting items now. */
  drain(): void {
    while (this.#queue.length > 0) this.#flushBatch()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => void this.#slices.next(() => this.#flushNext()))
  }

  #flushNext(): void {
    this.#scheduled = false
    if (this.#queue.length > 0) this.#flushBatch()
    if (this.#queue.length > 0) this.#schedule()
  }

  #flushBatch(): void {
    const batch = this.#queue.slice(0, this.#maxBatch)
    this.#queue = this.#queue.slice(this.#maxBatch)
    for (const [index, settled] of this.#settle(batch.map(({ item }) => item)).entries()) {
      if ('value' in settled) batch[index]?.resolve(settled.value)
      else batch[index]?.reject(settled.error)
    }
  }

  #settle(items: readonly T[]): readonly Settled<R>[] {
    try {
      return this.#flush(items)
    } catch (error) {
      return items.map(() => ({ error }))
    }
  }
}
