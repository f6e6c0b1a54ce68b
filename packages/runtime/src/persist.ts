import { Backoff, type Random } from './backoff.ts'
import { type Clock, pause } from './clock.ts'

export interface PersistOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Before the second attempt; doubles with each further one, and is random between half and the whole of it. */
  readonly firstPauseMs: number
  readonly longestPauseMs: number
  readonly random?: Random
  /** Told of each attempt that failed, and of the pause before the next; not once `signal` is aborted. */
  readonly onFailure: (error: Error, pauseMs: number) => void
}

/**
 * Tries until the work says that it is `done`, or `signal` aborts. What ends with `again`, or throws, is tried anew after
 * a pause.
 * @param attempt `goesWell` says that the pauses begin anew: the other side answers
 */
export async function persist(
  attempt: (goesWell: () => void) => Promise<'done' | 'again'>,
  { clock, signal, firstPauseMs, longestPauseMs, random, onFailure }: PersistOptions,
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
