import { type Clock, type Logger, retry } from '@spout/runtime'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000

export interface KeepWatchingOptions {
  /** The watched path, for the log. */
  readonly path: string
  /** What holds while no watch is open, for the log. */
  readonly meanwhile: string
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/**
 * Watches the control plane until `signal` aborts. Watches again whenever a watch ends or breaks.
 * @param watch runs one watch, from its list to its end. It calls `resetPauses` when the control plane answers: the
 * next pause is short again
 */
export async function keepWatching(
  watch: (resetPauses: () => void) => Promise<void>,
  { path, meanwhile, clock, log, signal }: KeepWatchingOptions,
): Promise<void> {
  const attempt = async (resetPauses: () => void) => {
    await watch(resetPauses)
    return 'again' as const
  }
  await retry(attempt, {
    clock,
    signal,
    firstPauseMs: FIRST_PAUSE_MS,
    longestPauseMs: LONGEST_PAUSE_MS,
    onFailure: ({ message }, pauseMs) =>
      log.warn({ event: 'control-plane-watch-broke', path, reason: message, pauseMs }, `${meanwhile}; will try again`),
  })
}
