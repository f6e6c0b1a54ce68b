import { type Session, watch } from '@spout/client/api'
import { LONGEST_SILENCE_MS } from '@spout/client/silence'
import { SpoutError } from '@spout/model/errors'
import { pause, systemClock } from '@spout/runtime/clock'

export interface ChangingList {
  /** The collection whose watch reports changes of the list. */
  readonly path: string
  /** Reads the list, as a text. */
  readonly read: () => Promise<string>
  readonly write: (text: string) => void
  readonly signal: AbortSignal
}

interface Line {
  readonly type: string
  readonly error?: { readonly detail?: string }
}

/** Another control plane needs some seconds until it leads. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 250

/**
 * Prints a list, and again whenever it changes, until `signal` aborts. Of several control planes it goes on at another
 * one when a watch ends or breaks: it prints the list if that changed meanwhile.
 * @throws ApiProblem; SpoutError Unavailable when the first list cannot be read, the only control plane goes away, or
 * none of several answers for 30 s
 */
export async function printAtChanges(session: Session, list: ChangingList): Promise<void> {
  const hasOthers = session.endpoints.urls.length > 1
  let printed: string | null = null
  let failingSinceMs: number | null = null
  do {
    try {
      for await (const text of readings(session, list)) {
        failingSinceMs = null
        if (text !== printed) list.write(text)
        printed = text
      }
    } catch (error) {
      failingSinceMs ??= performance.now()
      const isOver = printed === null || performance.now() - failingSinceMs > PATIENCE_MS
      if (!hasOthers || isOver || !isAway(error)) throw error
    }
    if (hasOthers) await pause(systemClock, PAUSE_MS, list.signal)
  } while (hasOthers && !list.signal.aborted)
}

/** The list at the beginning of a watch, and after each change. */
async function* readings(session: Session, { path, read, signal }: ChangingList): AsyncIterable<string> {
  let isWhole = false
  for await (const { type, error } of watch<Line>(session, `${path}?watch=1`, signal, LONGEST_SILENCE_MS)) {
    if (type === 'ERROR') throw unavailable(error?.detail ?? 'the watch ended')
    const isBookmark = type === 'BOOKMARK'
    // Objects that exist come first, up to a bookmark. A list that is read after it misses no change in between.
    if (isBookmark !== isWhole) yield await read()
    isWhole ||= isBookmark
  }
}

const unavailable = (reason: string) => new SpoutError('Unavailable', { what: 'The control plane', reason })

const isAway = (error: unknown): boolean => error instanceof SpoutError && error.code === 'Unavailable'
