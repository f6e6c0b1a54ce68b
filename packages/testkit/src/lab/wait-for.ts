/** What `waitFor` is told by a probe: `undefined`, `null` or `false` mean "not yet". */
type Probe<T> = () => T | Promise<T>

export interface WaitOptions {
  /** What is waited for, for the error text. */
  readonly what: string
  readonly timeoutMs?: number
  readonly everyMs?: number
}

/**
 * Asks until the probe answers something, and returns that answer. A probe that throws counts as "not yet"; its last
 * error is part of the time-out's text.
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
