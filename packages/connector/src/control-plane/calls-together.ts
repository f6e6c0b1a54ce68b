import { type Clock, systemClock, type Timer } from '@spout/runtime'

/** The result for one of several items of a call. */
export type Outcome<R> = { readonly value: R } | { readonly error: unknown }

export interface CallsTogetherOptions<T, R> {
  /** The call for a single item. */
  readonly one: (item: T) => Promise<R>
  /** The call for several items: a result for each, in order. Rejects when the call failed as a whole. */
  readonly many: (items: readonly T[]) => Promise<readonly Outcome<R>[]>
  /** Whether one of the items may have caused the failure of the whole call. Then each item gets a call of its own. */
  readonly isAboutContent: (error: unknown) => boolean
  /** Approximate size of one item in the call's body. */
  readonly bytesOf: (item: T) => number
  readonly most: { readonly items: number; readonly bytes: number }
  readonly clock?: Clock
}

interface Waiting<T, R> {
  readonly item: T
  /** Monotonic time at which the item is sent at the latest, alone if no other has arrived. */
  readonly dueMs: number
  readonly resolve: (value: R) => void
  readonly reject: (error: unknown) => void
}

/** Calls under way at once. More would only wait in the control plane. */
const MOST_CALLS = 2

/**
 * Batches calls: items that arrive while other calls are under way share the next call. Without such calls, an item
 * waits for others only as long as its caller allows. A refused item does not affect the others.
 */
export class CallsTogether<T, R> {
  readonly #options: CallsTogetherOptions<T, R>
  readonly #clock: Clock
  readonly #waiting: Waiting<T, R>[] = []
  #calls = 0
  #scheduled = false
  #patience: Timer | null = null

  constructor(options: CallsTogetherOptions<T, R>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** @param patienceMs how long it may wait for others to share its call */
  ask(item: T, patienceMs = 0): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, dueMs: this.#clock.monotonicMs() + patienceMs, resolve, reject })
      this.#schedule()
    })
  }

  /** Starts a call at the end of this turn of the event loop, so that all items of this turn share it. */
  #schedule(): void {
    if (this.#scheduled || this.#calls >= MOST_CALLS || this.#waiting.length === 0) return
    this.#patience?.clear()
    this.#patience = null
    const waitMs = this.#patienceMs()
    if (waitMs > 0) {
      this.#patience = this.#clock.setTimer(() => this.#schedule(), waitMs)
      return
    }
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#calls++
      void this.#call(this.#next()).finally(() => {
        this.#calls--
        this.#schedule()
      })
      this.#schedule()
    })
  }

  /** How long all waiting items can still wait. When one is due, the others go with it. */
  #patienceMs(): number {
    if (this.#waiting.length >= this.#options.most.items) return 0
    let dueMs = Number.POSITIVE_INFINITY
    for (const waiting of this.#waiting) dueMs = Math.min(dueMs, waiting.dueMs)
    return Math.max(0, dueMs - this.#clock.monotonicMs())
  }

  #next(): readonly Waiting<T, R>[] {
    const { bytesOf, most } = this.#options
    let [count, bytes] = [0, 0]
    for (const { item } of this.#waiting) {
      bytes += bytesOf(item)
      if (count === most.items || (count > 0 && bytes > most.bytes)) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #call(together: readonly Waiting<T, R>[]): Promise<void> {
    const [first] = together
    if (first === undefined) return
    if (together.length === 1) return this.#alone(first)
    const { many, isAboutContent } = this.#options
    try {
      const outcomes = await many(together.map(({ item }) => item))
      for (const [at, { resolve, reject }] of together.entries()) {
        const outcome = outcomes[at]
        if (outcome === undefined) reject(new Error('the control plane did not answer for it'))
        else if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.value)
      }
    } catch (error) {
      if (isAboutContent(error)) await Promise.all(together.map((waiting) => this.#alone(waiting)))
      else for (const { reject } of together) reject(error)
    }
  }

  async #alone({ item, resolve, reject }: Waiting<T, R>): Promise<void> {
    try {
      resolve(await this.#options.one(item))
    } catch (error) {
      reject(error)
    }
  }
}
