import type { Clock } from '@spout/runtime'

interface Failures {
  readonly count: number
  readonly untilMs: number
}

const WINDOW_MS = 60_000
const MAX_FAILURES = 10
/** Somebody who tries many names from one address. */
const MAX_FAILURES_OF_ADDRESS = 100
const MAX_KEYS = 10_000

/** Counts failed logins by user and address. Bounded: the entry that failed longest ago makes room. */
export class LoginLimiter {
  readonly #clock: Clock
  readonly #failures = new Map<string, Failures>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  allows(user: string, address: string): boolean {
    return this.#count(userKey(user, address)) < MAX_FAILURES && this.#count(address) < MAX_FAILURES_OF_ADDRESS
  }

  failed(user: string, address: string): void {
    for (const key of [userKey(user, address), address]) {
      const count = this.#count(key) + 1
      this.#failures.delete(key)
      this.#failures.set(key, { count, untilMs: this.#clock.monotonicMs() + WINDOW_MS })
    }
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= MAX_KEYS) break
      this.#failures.delete(oldest)
    }
  }

  succeeded(user: string, address: string): void {
    this.#failures.delete(userKey(user, address))
  }

  #count(key: string): number {
    const found = this.#failures.get(key)
    return found === undefined || found.untilMs <= this.#clock.monotonicMs() ? 0 : found.count
  }
}

const userKey = (user: string, address: string): string => `${address} ${user}`
