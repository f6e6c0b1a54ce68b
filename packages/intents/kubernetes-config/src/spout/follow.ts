import { type Clock, type Logger, pause } from '@spout/runtime'
import type { NativeApi, WatchLine } from './native-api.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000

export interface Followed {
  /** What exists is shown from here on, all of it. */
  readonly listing: () => void
  readonly line: (line: WatchLine & { readonly object: NonNullable<WatchLine['object']> }) => void
  /** Everything that exists was shown since `listing`. */
  readonly listed: () => void
}

/** Follows a collection until `signal` aborts, however often the watch breaks. */
export async function follow(
  api: NativeApi,
  path: string,
  { listing, line: tell, listed }: Followed,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS
  while (!signal.aborted) {
    try {
      let complete = false
      listing()
      for await (const line of api.watch(path, signal)) {
        pauseMs = FIRST_PAUSE_MS
        if (line.type === 'BOOKMARK') {
          // The first bookmark ends the list; later ones only say that nothing happened.
          if (!complete) listed()
          complete = true
        } else if (line.object !== undefined) tell({ ...line, object: line.object })
      }
    } catch (error) {
      if (signal.aborted) return
      const reason = (error as Error).message
      log.warn({ event: 'control-plane-watch-broke', path, reason, pauseMs }, 'will try again')
    }
    await pause(clock, pauseMs, signal)
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
  }
}
