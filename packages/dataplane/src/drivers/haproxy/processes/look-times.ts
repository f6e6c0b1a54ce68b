/** A request that a leaving server has ends soon after it left, as a rule. Then each look comes after twice the time. */
const FIRST_LOOK_MS = 25
/**
 * At most this many sweep periods pass between two looks at servers whose connections continue while nothing waits for
 * their slots.
 */
const MOST_SWEEPS = 8

/** When the next look at servers and slots that leave is due. */
export class LookTimes {
  readonly #sweepEveryMs: number
  #inMs = FIRST_LOOK_MS

  constructor(sweepEveryMs: number) {
    this.#sweepEveryMs = sweepEveryMs
  }

  /** Whether a look that was arranged is later than one after a change. */
  get isLate(): boolean {
    return this.#inMs > FIRST_LOOK_MS
  }

  /** Something else leaves now. */
  restart(): void {
    this.#inMs = FIRST_LOOK_MS
  }

  /** The look was made, and the next one comes later. */
  made(left: Left): void {
    this.#inMs = 2 * Math.min(this.#inMs, this.#most(left))
  }

  nextInMs(left: Left): number {
    const inMs = Math.min(this.#inMs, this.#most(left))
    return left.endsInMs > 0 ? Math.min(inMs, left.endsInMs) : inMs
  }

  #most({ endsInMs, slots }: Left): number {
    return slots > 0 || endsInMs === 0 ? this.#sweepEveryMs : MOST_SWEEPS * this.#sweepEveryMs
  }
}

/** The reason for a look. */
export interface Left {
  /** Milliseconds until connections of a server are ended; 0 if they are being ended (see `Drains`). */
  readonly endsInMs: number
  /** Released slots that are not free yet, which the next change may need. */
  readonly slots: number
}
