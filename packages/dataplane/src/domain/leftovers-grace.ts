const DEFAULT_GRACE_MS = 30_000

/**
 * When what nobody named may go. An agent that lost its memory hears of its entries in several portions after a
 * start: what the first portion does not name may carry traffic that a later one names.
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

  /** Begins anew: something was just adopted. */
  begin(): void {
    this.#startMs = this.#now()
  }

  get isOver(): boolean {
    return this.#now() - this.#startMs >= this.#graceMs
  }
}
