import { setImmediate as nextTurn } from 'node:timers/promises'
import { SpoutError } from '@spout/model'
import { ChangeDecoder, type LoggedChange } from './change-decoder.ts'
import type { LogReader } from './change-log.ts'
import { formatRevision, parseRevision } from './revision.ts'
import { Sleeper, type Waking } from './sleeper.ts'
import type { Change, WatchOptions } from './store.ts'
import type { KnownValues } from './values/known-values.ts'

/** Otherwise a long replay runs in microtasks only and starves all I/O. */
const COMMITS_PER_TURN = 64

const kindOf = (change: LoggedChange): string => (change.type === 'put' ? change.object.kind : change.ref.kind)

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
    this.#bookmarks = setInterval(() => this.#wakeAll('quiet'), bookmarkIntervalMs).unref()
  }

  /** Call it when the log has grown or was compacted. */
  notify(): void {
    this.#wakeAll('news')
  }

  /** Ends every watch. */
  close(): void {
    this.#closed = true
    clearInterval(this.#bookmarks)
    this.#wakeAll('news')
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

  async *#follow({ from, kinds, signal }: WatchOptions, sleeper: Sleeper): AsyncGenerator<Change, void> {
    const wanted = kinds === undefined ? null : new Set(kinds)
    const ended = () => signal.aborted || this.#closed
    let at = parseRevision(this.#storeId, from) ?? -1
    let bookmarkDue = true
    let commits = 0

    while (!ended()) {
      if (at < this.#log.floor || at > this.#log.head)
        throw new SpoutError('Gone', { revision: at < 0 ? from : this.#revision(at) })
      const commit = this.#log.after(at, wanted)
      if (commit !== null) {
        for (const change of this.#decoder.changes(commit)) {
          if (wanted !== null && !wanted.has(kindOf(change))) continue
          yield change
          if (ended()) return
        }
        at = commit.sequence
        if (++commits % COMMITS_PER_TURN === 0) await nextTurn()
      } else if (bookmarkDue) {
        bookmarkDue = false
        yield { type: 'bookmark', revision: this.#revision(at) }
      } else {
        bookmarkDue = (await sleeper.sleep()) === 'quiet'
      }
    }
  }

  #wakeAll(why: Waking): void {
    for (const sleeper of this.#sleepers) sleeper.wake(why)
  }

  #revision = (sequence: number) => formatRevision(this.#storeId, sequence)
}
