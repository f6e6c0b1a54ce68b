import type { WatchLine } from '@spout/client/native-api'
import { type Clock, type Logger, persist } from '@spout/runtime'
import type { ApiObject, NativeObjects } from './native-objects.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000

export interface Followed {
  /** What exists is shown from here on, all of it. */
  readonly listing: () => void
  readonly line: (line: Exclude<WatchLine<ApiObject>, { readonly type: 'BOOKMARK' }>) => void
  /** Everything that exists was shown since `listing`. */
  readonly listed: () => void
}

/** Follows a collection until `signal` aborts, however often the watch breaks. */
export async function follow(
  api: NativeObjects,
  path: string,
  { listing, line: tell, listed }: Followed,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  await persist(
    async (goesWell) => {
      let complete = false
      listing()
      for await (const line of api.watch<ApiObject>(path, signal)) {
        goesWell()
        if (line.type === 'BOOKMARK') {
          // The first bookmark ends the list; later ones only say that nothing happened.
          if (!complete) listed()
          complete = true
        } else tell(line)
      }
      return 'again'
    },
    {
      clock,
      signal,
      firstPauseMs: FIRST_PAUSE_MS,
      longestPauseMs: LONGEST_PAUSE_MS,
      onFailure: ({ message }, pauseMs) =>
        log.warn({ event: 'control-plane-watch-broke', path, reason: message, pauseMs }, 'will try again'),
    },
  )
}
