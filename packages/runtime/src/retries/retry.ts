import { type Clock, pause } from '../clock/clock.ts'
import { Backoff, type Random } from './backoff.ts'

export interface RetryOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /**
   * The pause before the second attempt. It doubles with each attempt and is drawn between half of that and all of it.
   */
  readonly firstPauseMs: number
  readonly longestPauseMs: number
  readonly random?: Random
  /** Called after each failed attempt, unless `signal` is aborted. `pauseMs` is the pause before the next attempt. */
  readonly onFailure: (error: Error, pauseMs: number) => void
}

/**
 * Calls `attempt` until it returns `done` or `signal` aborts. An attempt that returns `again` or throws is repeated after
 * a pause.
 * @param attempt calls `resetPauses` when the other side answers: the next pause is `firstPauseMs` again
 */
export async function retry(
  attempt: (resetPauses: () => void) => Promise<'done' | 'again'>,
  { clock, signal, firstPauseMs, longestPauseMs, random, onFailure }: RetryOptions,
): Promise<void> {
  const backoff = new Backoff({ firstMs: firstPauseMs, mostMs: longestPauseMs, ...(random && { random }) })
  while (!signal.aborted) {
    let failure: unknown = null
    try {
      if ((await attempt(() => backoff.reset())) === 'done') return
    } catch (error) {
      if (signal.aborted) return
      failure = error ?? new Error('no reason was given')
    }
    const pauseMs = backoff.next()
    if (failure !== null) onFailure(failure instanceof Error ? failure : new Error(String(failure)), pauseMs)
    await pause(clock, pauseMs, signal)
  }
}
