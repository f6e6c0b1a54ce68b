/** The result of one item of a batch. */
export type Settled<R> = { readonly value: R } | { readonly error: unknown }

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (value: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * Collects the items submitted within one turn of the event loop, or during the flush before it, and flushes them
 * together. A flush is synchronous. A long queue is flushed one batch a turn, so that reads run in between.
 */
export class GroupCommit<T, R> {
  readonly #flush: (batch: readonly T[]) => readonly Settled<R>[]
  readonly #maxBatch: number
  #queue: Waiting<T, R>[] = []
  #scheduled = false

  /** @param flush returns a result for each item, in order; an error it throws is the result of all */
  constructor(flush: (batch: readonly T[]) => readonly Settled<R>[], maxBatch: number) {
    this.#flush = flush
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
    setImmediate(() => {
      this.#scheduled = false
      if (this.#queue.length > 0) this.#flushBatch()
      if (this.#queue.length > 0) this.#schedule()
    })
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
