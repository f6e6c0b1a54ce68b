import { type BackoffLimits, backoffMs, type Random } from './backoff.ts'
import { type Clock, systemClock, type Timer } from './clock.ts'

export interface WorkQueueOptions {
  readonly clock?: Clock
  /** First pause after a failure of a key; doubles with each further one. */
  readonly firstRetryMs?: number
  readonly maxRetryMs?: number
  readonly random?: Random
}

/**
 * Keys of what has to be looked at again; never events, so that a burst on one key is one piece of work.
 *
 * A key is handed to one worker at a time: what is added meanwhile comes back once that worker is done. Groups
 * (tenants) take turns, so a burst of one waits behind its own queue alone. Adding a key ends its pause.
 */
export class WorkQueue {
  readonly #clock: Clock
  readonly #retry: BackoffLimits
  readonly #random: Random | undefined
  /** Waiting keys by group; the map's order is the order of turns. */
  readonly #turns = new Map<string, Set<string>>()
  readonly #groupOf = new Map<string, string>()
  readonly #working = new Set<string>()
  /** Added while a worker had them. */
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

  /** Keys that wait, are paused or in work. */
  get size(): number {
    return this.#groupOf.size
  }

  /** Keys that could be taken now. */
  get waiting(): number {
    let count = 0
    for (const keys of this.#turns.values()) count += keys.size
    return count
  }

  /** Whether nobody looks at the key before its pause ends. */
  isPaused(key: string): boolean {
    return this.#paused.has(key)
  }

  /** `group` is whose turn the work is: the tenant, or left out. A key stays in the group it was last added with. */
  add(key: string, group = ''): void {
    if (this.#closed) return
    this.#endPause(key)
    if (this.#working.has(key)) {
      this.#groupOf.set(key, group)
      this.#again.add(key)
      return
    }
    const before = this.#groupOf.get(key)
    if (before !== undefined && this.#turns.get(before)?.has(key)) return
    this.#enqueue(key, group)
  }

  addAfter(key: string, delayMs: number, group = ''): void {
    if (this.#closed) return
    if (delayMs <= 0) {
      this.add(key, group)
      return
    }
    const before = this.#groupOf.get(key)
    if (before !== undefined && this.#turns.get(before)?.has(key)) return
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

  /** The next key, once there is one; null when the queue was closed. Pair each with `done`. */
  take(): Promise<string | null> {
    if (this.#closed) return Promise.resolve(null)
    const key = this.#next()
    return key === null ? new Promise((resolve) => this.#takers.push(resolve)) : Promise.resolve(key)
  }

  /**
   * Ends the work on a key. `failed` brings it back after a pause that grows with each failure in a row, a number of
   * milliseconds brings it back then; any change added meanwhile brings it back at once.
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

  /** Nothing is handed out any more; waiting takers get null. */
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
    const keys = this.#turns.get(group)
    if (keys === undefined) this.#turns.set(group, new Set([key]))
    else keys.add(key)
    const taker = this.#takers.shift()
    if (taker !== undefined) taker(this.#next())
  }

  #next(): string | null {
    for (const [group, keys] of this.#turns) {
      this.#turns.delete(group)
      for (const key of keys) {
        keys.delete(key)
        // Behind the other groups now.
        if (keys.size > 0) this.#turns.set(group, keys)
        this.#working.add(key)
        return key
      }
    }
    return null
  }
}
