/** A rate limit: allows a burst at once, then one event per interval. */
export class TokenBucket {
  readonly #size: number
  readonly #refillMs: number
  #tokens: number
  #atMs: number

  constructor(size: number, refillMs: number, nowMs: number) {
    this.#size = size
    this.#refillMs = refillMs
    this.#tokens = size
    this.#atMs = nowMs
  }

  /** Takes a token. @returns false when there is none */
  take(nowMs: number): boolean {
    this.#tokens = Math.min(this.#size, this.#tokens + (nowMs - this.#atMs) / this.#refillMs)
    this.#atMs = nowMs
    if (this.#tokens < 1) return false
    this.#tokens--
    return true
  }
}
