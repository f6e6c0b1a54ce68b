import { setImmediate as nextTurn } from 'node:timers/promises'
import { SpoutError } from '@spout/model'
import { ChangeDecoder, type LoggedChange } from './change-decoder.ts'
import type { LoggedCommit, LoggedWrite, LogReader } from './change-log.ts'
import { formatRevision, parseRevision } from './revision.ts'
import { Sleeper } from './sleeper.ts'
import type { Change, WatchOptions } from './store.ts'
import type { KnownValues } from './values/known-values.ts'

/** After this many commits a watch lets I/O run. Otherwise a long replay, which runs in microtasks, would starve it. */
const COMMITS_PER_TURN = 64

const NONE: readonly LoggedCommit[] = []

/** What a watch asked for. */
interface Wanted {
  /** Null is all. */
  readonly kinds: ReadonlySet<string> | null
  /** Undefined is all. */
  readonly scope: string | undefined
}

const wants = ({ kinds, scope }: Wanted, write: Pick<LoggedWrite, 'kind' | 'scope'>): boolean =>
  (kinds === null || kinds.has(write.kind)) && (scope === undefined || scope === write.scope)

const writeOf = (change: LoggedChange): Pick<LoggedWrite, 'kind' | 'scope'> =>
  change.type === 'put' ? change.object : { kind: change.ref.kind, scope: change.scope }

/**
 * The watches of one store. Each keeps a position in the log and its current commit, so a slow reader costs others
 * nothing. It continues from its position later, and gets `Gone` when compaction has passed it.
 */
export class Watches {
  readonly #storeId: string
  readonly #log: LogReader
  readonly #decoder: ChangeDecoder
  readonly #sleepers = new Set<Sleeper>()
  /** One timer for all: a timer per watch would be set and cleared at every commit. */
  readonly #bookmarks: NodeJS.Timeout
  #closed = false

  constructor(storeId: string, log: LogReader, bookmarkIntervalMs: number, known: KnownValues) {
    this.#storeId = storeId
    this.#log = log
    this.#decoder = new ChangeDecoder(storeId, known)
    const quiet = () => {
      for (const sleeper of this.#sleepers) sleeper.wake('quiet')
    }
    this.#bookmarks = setInterval(quiet, bookmarkIntervalMs).unref()
  }

  /** Call it when the log has grown or was compacted. */
  notify(): void {
    for (const sleeper of this.#sleepers) sleeper.news()
  }

  /** Ends every watch. */
  close(): void {
    this.#closed = true
    clearInterval(this.#bookmarks)
    for (const sleeper of this.#sleepers) sleeper.wake('news')
  }

  async *watch(options: WatchOptions): AsyncGenerator<Change, void> {
    const sleeper = new Sleeper()
    const wake = () => sleeper.wake('news')
    this.#sleepers.add(sleeper)
    options.signal.addEventListener('abort', wake)
    try {
      yield* this.#follow(options, sleeper)
    } finally {
      options.signal.removeEventListener('abort', wake)
      this.#sleepers.delete(sleeper)
    }
  }

  async *#follow({ from, kinds, scope, signal }: WatchOptions, sleeper: Sleeper): AsyncGenerator<Change, void> {
    const wanted: Wanted = { kinds: kinds === undefined ? null : new Set(kinds), scope }
    const ended = () => signal.aborted || this.#closed
    let at = parseRevision(this.#storeId, from) ?? -1
    let bookmarkDue = true
    let commits = 0
    /** Skips commits that have nothing for this watch. @returns false if there is something for it to do */
    const passes = (): boolean => {
      for (;;) {
        if (ended() || at < this.#log.floor || this.#log.older?.isDue(at)) return false
        const commit = this.#log.after(at, wanted.kinds)
        if (commit === null) return true
        if (commit.writes.some((write) => wants(wanted, write))) return false
        at = commit.sequence
      }
    }

    while (!ended()) {
      if (at < this.#log.floor || at > this.#log.head)
        throw new SpoutError('Gone', { revision: at < 0 ? from : this.#revision(at) })
      const due = this.#log.older?.isDue(at) ? await this.#log.older.load(at) : this.#next(at, wanted)
      if (due.length > 0) {
        for (const commit of due) {
          for (const change of this.#decoder.changes(commit)) {
            if (!wants(wanted, writeOf(change))) continue
            yield change
            if (ended()) return
          }
          at = commit.sequence
          if (++commits % COMMITS_PER_TURN === 0) await nextTurn()
        }
      } else if (bookmarkDue) {
        bookmarkDue = false
        yield { type: 'bookmark', revision: this.#revision(at) }
      } else {
        bookmarkDue = (await sleeper.sleep(passes)) === 'quiet'
      }
    }
  }

  #next(at: number, { kinds }: Wanted): readonly LoggedCommit[] {
    const commit = this.#log.after(at, kinds)
    return commit === null ? NONE : [commit]
  }

  #revision = (sequence: number) => formatRevision(this.#storeId, sequence)
}
