import { type Clock, systemClock, type Timer } from '../clock/clock.ts'
import { type BackoffLimits, backoffMs, type Random } from '../retries/backoff.ts'
import { Turns } from './turns.ts'

export interface WorkQueueOptions {
  readonly clock?: Clock
  /** The pause after the first failure of a key. It doubles with each further one. */
  readonly firstRetryMs?: number
  readonly maxRetryMs?: number
  readonly random?: Random
}

/**
 * A queue of keys to reconcile. It holds no events, so a burst on one key is one piece of work.
 *
 * A key is given to one worker at a time. A key that is added meanwhile comes back once that worker is done. Groups
 * (tenants) take turns, so a burst of one delays its own keys only. Adding a key ends its pause.
 */
export class WorkQueue {
  readonly #clock: Clock
  readonly #retry: BackoffLimits
  readonly #random: Random | undefined
  /** Waiting keys. */
  readonly #turns = new Turns()
  readonly #groupOf = new Map<string, string>()
  readonly #working = new Set<string>()
  /** Keys that were added while a worker had them. */
  readonly #again = new Set<string>()
  readonly #paused = new Map<string, Timer>()
  readonly #failures = new Map<string, number>()
  readonly #takers: ((key: string | null) => void)[] = []
  #closed = false

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock
    this.#retry = { firstMs: options.firstRetryMs ?? 50, mostMs: options.maxRetryMs ?? 30_000 }
    this.#random = options.random
  }

  /** How many keys wait, are paused or are in work. */
  get size(): number {
    return this.#groupOf.size
  }

  /** How many keys could be taken now. */
  get waiting(): number {
    return this.#turns.size
  }

  /** Whether the key is paused after a failure. */
  isPaused(key: string): boolean {
    return this.#paused.has(key)
  }

  /** Whether the key was added while its worker has it, so that it comes back. */
  comesBack(key: string): boolean {
    return this.#again.has(key)
  }

  /** @param group the tenant whose turn the work takes. A key stays in the group that it was last added with */
  add(key: string, group = ''): void {
    if (this.#closed) return
    this.#endPause(key)
    if (this.#working.has(key)) {
      this.#groupOf.set(key, group)
      this.#again.add(key)
      return
    }
    const before = this.#groupOf.get(key)
    if (before !== undefined && this.#turns.has(key, before)) return
    this.#enqueue(key, group)
  }

  addAfter(key: string, delayMs: number, group = ''): void {
    if (this.#closed) return
    if (delayMs <= 0) {
      this.add(key, group)
      return
    }
    const before = this.#groupOf.get(key)
    if (before !== undefined && this.#turns.has(key, before)) return
    this.#endPause(key)
    this.#groupOf.set(key, group)
    this.#paused.set(
      key,
      this.#clock.setTimer(() => {
        this.#paused.delete(key)
        this.add(key, group)
      }, delayMs),
    )
  }

  /** Resolves with the next key, or with null when the queue is closed. Call `done` for each. */
  take(): Promise<string | null> {
    if (this.#closed) return Promise.resolve(null)
    const key = this.#next()
    return key === null ? new Promise((resolve) => this.#takers.push(resolve)) : Promise.resolve(key)
  }

  /**
   * Says that the work on a key that was taken begins only now. It sees everything that was added until now, so the key
   * does not come back for that.
   */
  begin(key: string): void {
    this.#again.delete(key)
  }

  /**
   * Ends the work on a key. After `failed` it comes back after a pause that grows with each failure in a row; with
   * `retryAfterMs`, after that time. If it was added meanwhile, it comes back at once.
   */
  done(key: string, outcome: 'ok' | 'failed' | { readonly retryAfterMs: number }): void {
    const group = this.#groupOf.get(key) ?? ''
    this.#working.delete(key)
    const failures = outcome === 'failed' ? (this.#failures.get(key) ?? 0) + 1 : 0
    if (failures === 0) this.#failures.delete(key)
    else this.#failures.set(key, failures)
    if (this.#closed) return
    if (this.#again.delete(key)) {
      this.#endPause(key)
      this.#enqueue(key, group)
      return
    }
    if (this.#paused.has(key)) return
    if (outcome === 'ok') {
      this.#groupOf.delete(key)
      return
    }
    const delayMs = outcome === 'failed' ? backoffMs(failures, this.#retry, this.#random) : outcome.retryAfterMs
    this.addAfter(key, delayMs, group)
  }

  /** Hands out no more keys. Waiting calls of `take` resolve with null. */
  close(): void {
    this.#closed = true
    for (const timer of this.#paused.values()) timer.clear()
    this.#paused.clear()
    this.#turns.clear()
    this.#groupOf.clear()
    for (const taker of this.#takers.splice(0)) taker(null)
  }

  #endPause(key: string): void {
    this.#paused.get(key)?.clear()
    this.#paused.delete(key)
  }

  #enqueue(key: string, group: string): void {
    this.#groupOf.set(key, group)
    this.#turns.add(key, group)
    const taker = this.#takers.shift()
    if (taker !== undefined) taker(this.#next())
  }

  #next(): string | null {
    const key = this.#turns.take()
    if (key !== null) this.#working.add(key)
    return key
  }
}
