/** A source of randomness: numbers from 0 to less than 1. */
export type Random = () => number

export interface BackoffLimits {
  /** The pause after the first failure. */
  readonly firstMs: number
  readonly mostMs: number
}

/** Enough doublings to reach every limit. More would overflow. */
const MOST_DOUBLINGS = 30

/**
 * The pause after `failures` failures in a row. It doubles with each failure and is drawn between half of that and all
 * of it: many clients that lost the same server must not come back in step.
 * @param failures at least 1
 */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffLimits, random: Random = Math.random): number {
  const wholeMs = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, MOST_DOUBLINGS))
  return wholeMs / 2 + (wholeMs / 2) * random()
}

/** Counts failures in a row and returns the pause after each, by `backoffMs`. */
export class Backoff {
  readonly #limits: BackoffLimits
  readonly #random: Random
  #failures = 0

  constructor({ random = Math.random, ...limits }: BackoffLimits & { readonly random?: Random }) {
    this.#limits = limits
    this.#random = random
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Counts one more failure.
   * @param atLeastMs the pause that the server asked for; the result is never shorter
   * @returns the pause
   */
  next(atLeastMs = 0): number {
    const pauseMs = backoffMs(++this.#failures, this.#limits, this.#random)
    return atLeastMs > 0 ? atLeastMs + Math.min(pauseMs, atLeastMs / 2) : pauseMs
  }

  reset(): void {
    this.#failures = 0
  }
}
