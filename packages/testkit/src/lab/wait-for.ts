/** A probe returns `undefined`, `null` or `false` for "not yet". */
type Probe<T> = () => T | Promise<T>

export interface WaitOptions {
  /** What is waited for; part of the error message. */
  readonly what: string
  readonly timeoutMs?: number
  readonly everyMs?: number
}

/**
 * Calls the probe until it returns a value, and returns that. A probe that throws counts as "not yet"; the error of a
 * time-out quotes its last error.
 */
export async function waitFor<T>(
  probe: Probe<T>,
  { what, timeoutMs = 20_000, everyMs = 10 }: WaitOptions,
): Promise<NonNullable<Exclude<T, false>>> {
  const deadline = performance.now() + timeoutMs
  let last: unknown = null
  for (;;) {
    try {
      const answer = await probe()
      if (answer !== undefined && answer !== null && answer !== false) return answer as NonNullable<Exclude<T, false>>
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline)
      throw new Error(
        `waited ${timeoutMs} ms in vain for ${what}${last instanceof Error ? `; last error: ${last.message}` : ''}`,
      )
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
