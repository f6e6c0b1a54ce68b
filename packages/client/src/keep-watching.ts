import { type Clock, type Logger, persist } from '@spout/runtime'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000

export interface KeepWatchingOptions {
  /** What is watched, for the log. */
  readonly path: string
  /** What holds while nothing is told, for the log. */
  readonly meanwhile: string
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Watches the control plane until `signal` aborts, however often the watch ends or breaks.
 * @param watch one watch from its list on, up to its end; `goesWell` says that the control plane answers, so that the pauses
 * begin anew
 */
export async function keepWatching(
  watch: (goesWell: () => void) => Promise<void>,
  { path, meanwhile, clock, log, signal }: KeepWatchingOptions,
): Promise<void> {
  const attempt = async (goesWell: () => void) => {
    await watch(goesWell)
    return 'again' as const
  }
  await persist(attempt, {
    clock,
    signal,
    firstPauseMs: FIRST_PAUSE_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    onFailure: ({ message }, pauseMs) =>
      log.warn({ event: 'control-plane-watch-broke', path, reason: message, pauseMs }, `${meanwhile}; will try again`),
  })
}
