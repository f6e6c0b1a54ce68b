import type { Clock, Timer } from '@spout/runtime'

/**
 * A reason for waiting is reported once it has lasted this long. A load balancer that merely starts is ready by then.
 */
export const STAYS_AFTER_MS = 10_000

/**
 * Nothing is reported about an object before it has waited this long. If it works by then, that is the only status
 * write: every write costs all watchers.
 */
export const BEGINS_MS = 250

interface PendingReason {
  readonly reason: string
  readonly sinceMs: number
  /** When the object began to wait, for any reason. */
  readonly begunMs: number
  /** Fires at the end of `BEGINS_MS`, then of `STAYS_AFTER_MS`; null once the reason has been reported. */
  readonly timer: Timer | null
}

/**
 * Tracks why objects wait for the nodes, and since when, to decide what is worth reporting. A new object passes through
 * several reasons in a second; a status write and an event for each would be many writes about nothing.
 */
export class PendingReasons {
  readonly #clock: Clock
  /**
   * Called with the key of an object when `BEGINS_MS` or `STAYS_AFTER_MS` is over: `look` then returns something else.
   */
  readonly #lookAgain: (key: string) => void
  readonly #byUid = new Map<string, PendingReason>()

  constructor(clock: Clock, lookAgain: (key: string) => void) {
    this.#clock = clock
    this.#lookAgain = lookAgain
  }

  has(uid: string): boolean {
    return this.#byUid.has(uid)
  }

  /**
   * Takes the reason for which the object waits now.
   * @param known whether the object's status already shows this reason, because another process has reported it
   * @param isMass whether very many objects wait. Then the phase `begins` is skipped, which saves a timer for each
   * @returns `begins` at first, then `passing` for a reason that may go away, `stays` once when it has lasted, and
   * `told` after that
   */
  look(
    uid: string,
    key: string,
    reason: string,
    known: boolean,
    isMass: boolean,
  ): 'begins' | 'passing' | 'stays' | 'told' {
    const before = this.#byUid.get(uid)
    const nowMs = this.#clock.monotonicMs()
    if (known) {
      this.#byUid.set(uid, { reason, sinceMs: nowMs, begunMs: nowMs, timer: null })
      return 'told'
    }
    if (before?.reason === reason && before.timer === null) return 'told'
    const sinceMs = before?.reason === reason ? before.sinceMs : nowMs
    const begunMs = before?.begunMs ?? nowMs
    const [begins, stays] = [!isMass && nowMs - begunMs < BEGINS_MS, nowMs - sinceMs >= STAYS_AFTER_MS]
    before?.timer?.clear()
    const restMs = begins ? begunMs + BEGINS_MS - nowMs : sinceMs + STAYS_AFTER_MS - nowMs
    const timer = stays ? null : this.#clock.setTimer(() => this.#lookAgain(key), restMs)
    this.#byUid.set(uid, { reason, sinceMs, begunMs, timer })
    return begins ? 'begins' : stays ? 'stays' : 'passing'
  }

  /** The object no longer waits. */
  forget(uid: string): void {
    this.#byUid.get(uid)?.timer?.clear()
    this.#byUid.delete(uid)
  }

  close(): void {
    for (const { timer } of this.#byUid.values()) timer?.clear()
    this.#byUid.clear()
  }
}
