/** Lets at most `limit` probes run at a time; the others wait in the order they came. */
export class ProbeGate {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Runs `probe` once there is room. Resolves with null when `signal` aborts first. */
  async pass<T>(probe: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
    if (this.#running >= this.#limit) await this.#turn(signal)
    else this.#running++
    if (signal.aborted) {
      this.#leave()
      return null
    }
    try {
      return await probe()
    } finally {
      this.#leave()
    }
  }

  /** Resolves when a place was handed over, which happens to those that gave up too: they pass it on at once. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        if (this.#waiting.delete(enter)) {
          this.#running++
          resolve()
        }
      }
      this.#waiting.add(enter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  #leave(): void {
    this.#running--
    if (this.#running >= this.#limit) return
    const [enter] = this.#waiting
    if (enter === undefined) return
    this.#waiting.delete(enter)
    this.#running++
    enter()
  }
}
