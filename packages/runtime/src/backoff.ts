/** Where randomness comes from: a number from 0 up to but without 1. */
export type Random = () => number

export interface BackoffLimits {
  /** The pause after the first failure. */
  readonly firstMs: number
  readonly mostMs: number
}

/** So many doublings reach every limit; more would overflow. */
const MOST_DOUBLINGS = 30

/**
 * The pause after so many failures in a row: it doubles with each, and is random between half and the whole of that. Many
 * clients that lost the same server must not come back in step.
 * @param failures 1 and more
 */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffLimits, random: Random = Math.random): number {
  const wholeMs = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, MOST_DOUBLINGS))
  return wholeMs / 2 + (wholeMs / 2) * random()
}

/** Counts failures in a row, for `backoffMs`. */
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
   * Something failed once more.
   * @param atLeastMs what the server asked for; the pause is never shorter
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
