import type { Clock, Timer } from '@spout/runtime'

const FIRST_MS = 100
const MOST_MS = 30_000

/** When what failed is tried again: each key by its own back-off, with one timer for all. */
export class RetrySchedule {
  readonly #clock: Clock
  readonly #random: () => number
  readonly #onDue: (keys: readonly string[]) => void
  readonly #failed = new Map<string, { readonly attempts: number; readonly dueMs: number }>()
  #timer: Timer | null = null

  constructor(clock: Clock, random: () => number, onDue: (keys: readonly string[]) => void) {
    this.#clock = clock
    this.#random = random
    this.#onDue = onDue
  }

  attempts(key: string): number {
    return this.#failed.get(key)?.attempts ?? 0
  }

  failed(key: string): void {
    const attempts = this.attempts(key) + 1
    const pauseMs = Math.min(MOST_MS, FIRST_MS * 2 ** (attempts - 1)) * (0.75 + this.#random() / 2)
    this.#failed.set(key, { attempts, dueMs: this.#clock.monotonicMs() + pauseMs })
    this.#arm()
  }

  succeeded(key: string): void {
    this.#failed.delete(key)
  }

  close(): void {
    this.#timer?.clear()
    this.#failed.clear()
  }

  #arm(): void {
    this.#timer?.clear()
    this.#timer = null
    let nextMs = Number.POSITIVE_INFINITY
    for (const { dueMs } of this.#failed.values()) nextMs = Math.min(nextMs, dueMs)
    if (nextMs === Number.POSITIVE_INFINITY) return
    this.#timer = this.#clock.setTimer(() => this.#fire(), Math.max(0, nextMs - this.#clock.monotonicMs()))
  }

  #fire(): void {
    const now = this.#clock.monotonicMs()
    const due: string[] = []
    for (const [key, entry] of this.#failed) {
      if (entry.dueMs > now) continue
      due.push(key)
      // Not due again until it fails again.
      this.#failed.set(key, { ...entry, dueMs: Number.POSITIVE_INFINITY })
    }
    this.#arm()
    if (due.length > 0) this.#onDue(due)
  }
}
