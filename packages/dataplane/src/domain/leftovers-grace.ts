const DEFAULT_GRACE_MS = 30_000

/**
 * Decides when leftovers may be removed. An agent that lost its state receives its entries in several portions after a
 * start, so a leftover that the first portion does not name may carry traffic of a later one.
 */
export class LeftoversGrace {
  readonly #graceMs: number
  readonly #now: () => number
  #startMs: number

  constructor(options: { readonly leftoversGraceMs?: number; readonly now?: () => number }) {
    this.#graceMs = options.leftoversGraceMs ?? DEFAULT_GRACE_MS
    this.#now = options.now ?? (() => performance.now())
    this.#startMs = this.#now()
  }

  /** Restarts the grace period after `adopt`. */
  begin(): void {
    this.#startMs = this.#now()
  }

  get isOver(): boolean {
    return this.#now() - this.#startMs >= this.#graceMs
  }
}
