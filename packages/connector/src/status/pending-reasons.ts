import type { Clock, Timer } from '@spout/runtime'

/** A reason that stays for so long is worth telling; what is on its way to work has passed by then. */
export const STAYS_AFTER_MS = 10_000

/** What works within this time is told of once, when it does: most are, and each write of a status costs everybody who watches. */
export const BEGINS_MS = 250

interface PendingReason {
  readonly reason: string
  readonly sinceMs: number
  /** When it began to wait, for whatever reason. */
  readonly begunMs: number
  /** Of `BEGINS_MS`, then of `STAYS_AFTER_MS`; null once the reason has been told. */
  readonly timer: Timer | null
}

/**
 * Why objects wait for the nodes, and since when. An object on its way goes through several reasons in a second: each
 * written and told as an event would be many writes about nothing.
 */
export class PendingReasons {
  readonly #clock: Clock
  /** Calls back with an object's key once it has begun to wait for long, and once its reason has stayed. */
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
   * Takes the reason of now.
   *
   * @param known what the object said before it was first looked at: it was told by whoever wrote it
   * @param isMass so many wait that none is looked at again before it stays
   * @returns `begins` at first, then `passing` for a reason that may go by itself, `stays` once for one that stayed, then `told`
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
