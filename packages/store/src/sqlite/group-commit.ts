/** What became of one item of a batch. */
export type Settled<R> = { readonly value: R } | { readonly error: unknown }

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (value: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * Gathers what is submitted within one turn of the event loop, and during the flush before it, into one flush.
 * A flush is synchronous; a long queue is flushed a batch a turn, so that reads come through in between.
 */
export class GroupCommit<T, R> {
  readonly #flush: (batch: readonly T[]) => readonly Settled<R>[]
  readonly #maxBatch: number
  #queue: Waiting<T, R>[] = []
  #scheduled = false

  /** @param flush answers for each item, in order; a throw is the answer to all */
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

  /** Flushes all that waits, now. */
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
