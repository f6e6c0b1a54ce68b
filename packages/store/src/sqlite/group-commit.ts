/** The result of one item of a batch. */
export type Settled<R> = { readonly value: R } | { readonly error: unknown }

interface Waiting<T, R> {
  readonly item: T
  readonly resolve: (value: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * Collects the items submitted within one turn of the event loop, or during the flush before, and flushes them together.
 * One flush is under way at a time: so the slower the disk, the more share a flush.
 */
export class GroupCommit<T, R> {
  readonly #flush: (batch: readonly T[]) => Promise<readonly Settled<R>[]>
  readonly #maxBatch: number
  #queue: Waiting<T, R>[] = []
  /** Until the queue is empty; null when it is. */
  #flushing: Promise<void> | null = null

  /** @param flush returns a result for each item, in order; an error it throws is the result of all */
  constructor(flush: (batch: readonly T[]) => Promise<readonly Settled<R>[]>, maxBatch: number) {
    this.#flush = flush
    this.#maxBatch = maxBatch
  }

  submit(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject })
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
      await this.#flushBatch()
    } while (this.#queue.length > 0)
    this.#flushing = null
  }

  async #flushBatch(): Promise<void> {
    const batch = this.#queue.slice(0, this.#maxBatch)
    this.#queue = this.#queue.slice(this.#maxBatch)
    for (const [index, settled] of (await this.#settle(batch.map(({ item }) => item))).entries()) {
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
