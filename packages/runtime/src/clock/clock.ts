/** A running timer. `clear` is harmless after it fired. */
export interface Timer {
  clear(): void
}

/** Time as a parameter, so that tests control it. */
export interface Clock {
  /** Wall-clock time, for people and for expiry. It may jump. */
  now(): Date
  /** Monotonic time in milliseconds, for intervals and time-outs. */
  monotonicMs(): number
  /** Calls `callback` once, after at least `delayMs`. The callback must not throw. */
  setTimer(callback: () => void, delayMs: number): Timer
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  setTimer: (callback, delayMs) => {
    // Node turns delays above 2^31-1 into 1 ms.
    const timer = setTimeout(callback, Math.min(delayMs, 0x7fffffff))
    return { clear: () => clearTimeout(timer) }
  },
}

/** Resolves after `delayMs`, or at once when `signal` aborts. Never rejects. */
export const pause = (clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const finish = () => {
      timer.clear()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = clock.setTimer(finish, delayMs)
    signal?.addEventListener('abort', finish, { once: true })
  })
