/** Where randomness comes from: a number from 0 up to but without 1. */
export type Random = () => number

export interface BackoffOptions {
  readonly firstMs: number
  readonly mostMs: number
  readonly random?: Random
}

/**
 * Pauses that double and are random between half and the whole of it: many clients that lost the same server must not
 * come back in step.
 */
export class Backoff {
  readonly #firstMs: number
  readonly #mostMs: number
  readonly #random: Random
  #failures = 0

  constructor({ firstMs, mostMs, random = Math.random }: BackoffOptions) {
    this.#firstMs = firstMs
    this.#mostMs = mostMs
    this.#random = random
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /** @param atLeastMs what the server asked for; the pause is never shorter */
  next(atLeastMs = 0): number {
    const whole = Math.min(this.#mostMs, this.#firstMs * 2 ** Math.min(this.#failures++, 30))
    const pause = whole / 2 + (whole / 2) * this.#random()
    return atLeastMs > 0 ? atLeastMs + Math.min(pause, atLeastMs / 2) : pause
  }

  reset(): void {
    this.#failures = 0
  }
}
