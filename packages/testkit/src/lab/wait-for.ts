/** A probe returns `undefined`, `null` or `false` for "not yet". */
type Probe<T> = () => T | Promise<T>

export interface WaitOptions {
  /** What is waited for; part of the error message. */
  readonly what: string
  /** Default: a minute, since a machine that is shared may be slow for so long. */
  readonly timeoutMs?: number
  /** Between two questions. Left out: a tenth of the time that the wait has taken, from 10 to 50 ms. */
  readonly everyMs?: number
}

/** To look at a lab starts processes, and tests run side by side: one that waits for long asks less often. */
const PAUSES = { shortestMs: 10, longestMs: 50, share: 0.1 } as const

/**
 * Calls the probe until it returns a value, and returns that. A probe that throws counts as "not yet"; the error of a
 * time-out quotes its last error.
 */
export async function waitFor<T>(
  probe: Probe<T>,
  { what, timeoutMs = 60_000, everyMs }: WaitOptions,
): Promise<NonNullable<Exclude<T, false>>> {
  const began = performance.now()
  let last: unknown = null
  for (;;) {
    try {
      const answer = await probe()
      if (answer !== undefined && answer !== null && answer !== false) return answer as NonNullable<Exclude<T, false>>
    } catch (error) {
      last = error
    }
    const tookMs = performance.now() - began
    if (tookMs > timeoutMs)
      throw new Error(
        `waited ${timeoutMs} ms in vain for ${what}${last instanceof Error ? `; last error: ${last.message}` : ''}`,
      )
    const pauseMs = everyMs ?? Math.min(Math.max(tookMs * PAUSES.share, PAUSES.shortestMs), PAUSES.longestMs)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
