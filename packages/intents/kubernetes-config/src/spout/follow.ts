import { keepWatching } from '@spout/client/keep-watching'
import type { WatchLine } from '@spout/client/native-api'
import type { Clock, Logger } from '@spout/runtime'
import type { ApiObject, NativeObjects } from './native-objects.ts'

export interface Followed {
  /** A list begins. Everything that exists follows. */
  readonly listing: () => void
  readonly line: (line: Exclude<WatchLine<ApiObject>, { readonly type: 'BOOKMARK' }>) => void
  /** The list that began with `listing` is complete. */
  readonly listed: () => void
}

/** Follows a collection until `signal` aborts. Starts again with a list whenever the watch breaks. */
export async function follow(
  api: NativeObjects,
  path: string,
  { listing, line: tell, listed }: Followed,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const watch = async (resetPauses: () => void) => {
    let complete = false
    listing()
    for await (const line of api.watch<ApiObject>(path, signal)) {
      resetPauses()
      if (line.type === 'BOOKMARK') {
        // The first bookmark ends the list. Later ones only say that nothing happened.
        if (!complete) listed()
        complete = true
      } else tell(line)
    }
  }
  await keepWatching(watch, { path, meanwhile: 'what is shown may be outdated', clock, log, signal })
}
