import type { Clock, Timer } from '@spout/runtime'

/** A reason that stays for so long is worth telling; what is on its way to work has passed by then. */
export const STAYS_AFTER_MS = 10_000

interface PendingReason {
  readonly reason: string
  readonly sinceMs: number
  readonly timer: Timer | null
}

/**
 * Why Services wait for the nodes, and since when. A Service on its way goes through several reasons in a second: each
 * written and told as an event would be many writes about nothing.
 */
export class PendingReasons {
  readonly #clock: Clock
  /** Calls back with a Service's key once its reason has stayed. */
  readonly #stayed: (key: string) => void
  readonly #byUid = new Map<string, PendingReason>()

  constructor(clock: Clock, stayed: (key: string) => void) {
    this.#clock = clock
    this.#stayed = stayed
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid)
  }

  /**
   * Takes the reason of now.
   *
   * @param known what the Service said before it was first looked at: it was told by whoever wrote it
   * @returns `new`, or `passing` for a reason that may go by itself, `stays` once for one that stayed, then `told`
   */
  look(uid: string, key: string, reason: string, known: boolean): 'new' | 'passing' | 'stays' | 'told' {
    const before = this.#byUid.get(uid)
    const nowMs = this.#clock.monotonicMs()
    if (before?.reason === reason) {
      if (before.timer === null) return 'told'
      if (nowMs - before.sinceMs < STAYS_AFTER_MS) return 'passing'
      before.timer.clear()
      this.#byUid.set(uid, { ...before, timer: null })
      return 'stays'
    }
    before?.timer?.clear()
    const timer = known ? null : this.#clock.setTimer(() => this.#stayed(key), STAYS_AFTER_MS)
    this.#byUid.set(uid, { reason, sinceMs: nowMs, timer })
    if (known) return 'told'
    return before === undefined ? 'new' : 'passing'
  }

  /** It does not wait any more. */
  forget(uid: string): void {
    this.#byUid.get(uid)?.timer?.clear()
    this.#byUid.delete(uid)
  }

  close(): void {
    for (const { timer } of this.#byUid.values()) timer?.clear()
    this.#byUid.clear()
  }
}
