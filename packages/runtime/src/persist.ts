import { type Clock, pause } from './clock.ts'

export interface PersistOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Before the second attempt; doubles with each further one. */
  readonly firstPauseMs: number
  readonly longestPauseMs: number
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
  { clock, signal, firstPauseMs, longestPauseMs, onFailure }: PersistOptions,
): Promise<void> {
  let pauseMs = firstPauseMs
  const goesWell = () => {
    pauseMs = firstPauseMs
  }
  while (!signal.aborted) {
    try {
      if ((await attempt(goesWell)) === 'done') return
    } catch (error) {
      if (signal.aborted) return
      onFailure(error instanceof Error ? error : new Error(String(error)), pauseMs)
    }
    await pause(clock, pauseMs, signal)
    pauseMs = Math.min(longestPauseMs, pauseMs * 2)
  }
}
