/** A watch that has nothing to say has a bookmark every 10 s. A machine that went off says nothing, and nobody else does. */
export const LONGEST_SILENCE_MS = 60_000

/** Notices that nothing comes for too long. Only what is spent waiting counts. */
export class Silence {
  readonly #longestMs: number
  readonly #over = new AbortController()
  #timer: NodeJS.Timeout | null = null

  /** @param longestMs 0 waits for ever */
  constructor(longestMs: number) {
    this.#longestMs = longestMs
  }

  /** Aborts when it lasted too long. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  begin(): void {
    if (this.#longestMs === 0) return
    const reason = new DOMException(`nothing came for ${this.#longestMs / 1000} s`, 'TimeoutError')
    this.#timer = setTimeout(() => this.#over.abort(reason), this.#longestMs)
  }

  end(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }
}
