import type { Clock, Timer } from '@spout/runtime'

/** A reason that lasts this long is reported; a load balancer that is just starting has become ready by then. */
export const STAYS_AFTER_MS = 10_000

/**
 * A load balancer that works within this time is reported only once, as working: every status write costs all watchers.
 */
export const BEGINS_MS = 250

interface PendingReason {
  readonly reason: string
  readonly sinceMs: number
  /** When it began to wait, for any reason. */
  readonly begunMs: number
  /** Runs for `BEGINS_MS`, then for `STAYS_AFTER_MS`; null once the reason was reported. */
  readonly timer: Timer | null
}

/**
 * Why objects wait for the nodes, and since when. A new object passes through several reasons in a second; writing each
 * one, with an event, would be many writes about nothing.
 */
export class PendingReasons {
  readonly #clock: Clock
  /** Calls back with an object's key once it has waited for long, and once its reason has lasted. */
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
   * Takes the reason why the object waits now.
   * @param known the reason in the object's status when it was first seen here, which another process has reported
   * @param isMass when very many objects wait: none of them is looked at again before its reason has lasted
   * @returns `begins` at first, then `passing` for a reason that may go away, `stays` once when it has lasted, then
   * `told`
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
