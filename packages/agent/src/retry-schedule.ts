import { backoffMs, type Clock, type Random, type Timer } from '@spout/runtime'

const LIMITS = { firstMs: 100, mostMs: 30_000 }
const NEVER = Number.POSITIVE_INFINITY

/** Schedules retries. Each key has its own back-off; one timer serves all. */
export class RetrySchedule {
  readonly #clock: Clock
  readonly #random: Random
  readonly #onDue: (keys: readonly string[]) => void
  readonly #failed = new Map<string, { readonly attempts: number; readonly dueMs: number }>()
  #timer: Timer | null = null
  #timerDueMs = NEVER

  constructor(clock: Clock, random: Random, onDue: (keys: readonly string[]) => void) {
    this.#clock = clock
    this.#random = random
    this.#onDue = onDue
  }

  attempts(key: string): number {
    return this.#failed.get(key)?.attempts ?? 0
  }

  failed(key: string): void {
    const attempts = this.attempts(key) + 1
    const pauseMs = backoffMs(attempts, LIMITS, this.#random)
    const dueMs = this.#clock.monotonicMs() + pauseMs
    this.#failed.set(key, { attempts, dueMs })
    if (dueMs < this.#timerDueMs) this.#arm(dueMs)
  }

  succeeded(key: string): void {
    this.#failed.delete(key)
  }

  close(): void {
    this.#timer?.clear()
    this.#failed.clear()
  }

  #arm(dueMs: number): void {
    this.#timer?.clear()
    this.#timerDueMs = dueMs
    if (dueMs === NEVER) return
    this.#timer = this.#clock.setTimer(() => this.#fire(), Math.max(0, dueMs - this.#clock.monotonicMs()))
  }

  #fire(): void {
    const now = this.#clock.monotonicMs()
    const due: string[] = []
    let nextMs = NEVER
    for (const [key, entry] of this.#failed) {
      if (entry.dueMs <= now) {
        due.push(key)
        // The key is not due again until it fails again.
        this.#failed.set(key, { ...entry, dueMs: NEVER })
      } else nextMs = Math.min(nextMs, entry.dueMs)
    }
    this.#arm(nextMs)
    if (due.length > 0) this.#onDue(due)
  }
}
