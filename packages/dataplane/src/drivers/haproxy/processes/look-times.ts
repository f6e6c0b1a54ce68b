/** Pause before the first look: most requests to a removed server end soon. Each pause is twice the one before. */
const FIRST_LOOK_MS = 25
/**
 * At most this many sweep periods pass between two looks at servers whose connections continue while nothing waits for
 * their slots.
 */
const MOST_SWEEPS = 8

/** Decides when the next look at removed servers and released slots is due. */
export class LookTimes {
  readonly #sweepEveryMs: number
  #inMs = FIRST_LOOK_MS

  constructor(sweepEveryMs: number) {
    this.#sweepEveryMs = sweepEveryMs
  }

  /** Whether the pause has grown, so that a change must bring the next look forward. */
  get isLate(): boolean {
    return this.#inMs > FIRST_LOOK_MS
  }

  /** Another server was removed, or another slot released. */
  restart(): void {
    this.#inMs = FIRST_LOOK_MS
  }

  /** A look was made, so the next pause is longer. */
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

/** What the last look left to do. */
export interface Left {
  /** Milliseconds until connections of a server are ended; 0 if they are being ended (see `Drains`). */
  readonly endsInMs: number
  /** Released slots that are not free yet, which the next change may need. */
  readonly slots: number
}
