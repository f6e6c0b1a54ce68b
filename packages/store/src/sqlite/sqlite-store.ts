import { SpoutError } from '@spout/model'
import { ChangeLog, type LogReader, type Retention } from '../change-log.ts'
import { type PlannedWrite, planWrite } from '../planned-write.ts'
import { formatRevision, parseRevision } from '../revision.ts'
import type { Change, ListResult, Ref, Revision, Store, Stored, StoreHealth, WatchOptions, Write } from '../store.ts'
import { KnownValues } from '../values/known-values.ts'
import { Watches } from '../watches.ts'
import { Database, isDiskFull, reasonOf } from './database.ts'
import { GroupCommit, type Settled } from './group-commit.ts'
import type { ObjectRow } from './statements.ts'

export interface SqliteStoreOptions {
  /** The database file; created when absent. SQLite keeps its log beside it as `<path>-wal`. */
  readonly path: string
  /** How much log is kept for watches. Default: 50,000 changes and 256 MiB of values. */
  readonly retention?: Retention
  /** How often a quiet watch gets a bookmark. Default: 10 s. */
  readonly bookmarkIntervalMs?: number
  /** The WAL is checkpointed at this many pages of 4 KiB. Default: 1,000. */
  readonly checkpointPages?: number
  /** How often a disk that failed is tried again. Default: 500 ms. */
  readonly probeIntervalMs?: number
}

const COMMITS_PER_FLUSH = 256
/**
 * Recent commits that are kept in memory. A watch that keeps up never reads the file, where each large object has to be
 * rebuilt from its edits. A change of members in 500 load balancers of a thousand members each is 6 MiB of edits.
 */
const WARM: Retention = { changes: 4096, bytes: 16 * 1024 * 1024 }

/** The default store: one SQLite file, one process, every acknowledged commit flushed to disk. */
export class SqliteStore implements Store {
  readonly #database: Database
  readonly #known = new KnownValues()
  readonly #warmLog: ChangeLog
  readonly #watches: Watches
  readonly #commits: GroupCommit<readonly PlannedWrite[], number>
  readonly #checkpointPages: number
  readonly #probeIntervalMs: number
  #refusal: string | null = null
  #probe: NodeJS.Timeout | null = null
  #closed = false

  /**
   * @throws SpoutError StoreUnavailable: another process has it open (the message says which), or the file cannot be
   * used
   */
  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    return new SqliteStore(options)
  }

  private constructor(options: SqliteStoreOptions) {
    this.#database = Database.open(options.path, options.retention ?? { changes: 50_000, bytes: 256 * 1024 * 1024 })
    this.#warmLog = new ChangeLog(WARM, this.#database.head)
    this.#watches = new Watches(this.#database.storeId, this.#log(), options.bookmarkIntervalMs ?? 10_000, this.#known)
    this.#commits = new GroupCommit((batch) => this.#flush(batch), COMMITS_PER_FLUSH)
    this.#checkpointPages = options.checkpointPages ?? 1000
    this.#probeIntervalMs = options.probeIntervalMs ?? 500
  }

  health(): StoreHealth {
    const reason = this.#closed ? 'the store is closed' : this.#refusal
    return { writable: reason === null, reason }
  }

  async get(kind: string, id: string): Promise<Stored | null> {
    const row = this.#read(() => this.#database.get(kind, id))
    return row === null ? null : this.#stored(kind, { id, ...row })
  }

  async list(kind: string, { scope }: { readonly scope?: string | null } = {}): Promise<ListResult> {
    const rows = this.#read(() => this.#database.list(kind, scope))
    return { items: rows.map((row) => this.#stored(kind, row)), revision: this.#revision(this.#database.head) }
  }

  async commit(writes: readonly Write[]): Promise<{ readonly revision: Revision }> {
    this.#assertOpen()
    const encoding = { known: this.#known, isLarge: (ref: Ref) => this.#database.isLarge(ref) }
    const planned = writes.map((write) => planWrite(this.#database.storeId, write, encoding))
    const sequence = planned.length === 0 ? this.#database.head : await this.#commits.submit(planned)
    return { revision: this.#revision(sequence) }
  }

  watch(options: WatchOptions): AsyncIterable<Change> {
    return this.#watches.watch(options)
  }

  async revision(): Promise<Revision> {
    this.#assertOpen()
    return this.#revision(this.#database.head)
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    const sequence = parseRevision(this.#database.storeId, revision)
    if (sequence === null || sequence > this.#database.head) throw new SpoutError('Gone', { revision })
    try {
      this.#database.compact(sequence)
    } catch (error) {
      this.#repair(error)
      throw refused(reasonOf(error), error)
    }
    this.#watches.notify()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#commits.drain()
    this.#closed = true
    if (this.#probe !== null) clearInterval(this.#probe)
    this.#watches.close()
    this.#database.close()
  }

  #flush(batch: readonly (readonly PlannedWrite[])[]): readonly Settled<number>[] {
    if (this.#refusal !== null) {
      const error = refused(this.#refusal)
      return batch.map(() => ({ error }))
    }
    try {
      return this.#apply(batch)
    } catch (error) {
      this.#repair(error)
      // A commit that does not fit must not fail those that do.
      if (isDiskFull(error) && batch.length > 1) return batch.flatMap((commit) => this.#flush([commit]))
      return batch.map(() => ({ error: refused(reasonOf(error), error) }))
    }
  }

  #apply(batch: readonly (readonly PlannedWrite[])[]): readonly Settled<number>[] {
    const outcomes = this.#database.apply(batch)
    const settled = outcomes.map((outcome): Settled<number> => {
      if ('error' in outcome) return outcome
      this.#warmLog.append(outcome.committed)
      return { value: outcome.committed.sequence }
    })
    this.#watches.notify()
    this.#checkpoint()
    return settled
  }

  /**
   * The commits of the flush are durable by now. A checkpoint that fails does not fail them, but stops further ones.
   */
  #checkpoint(): void {
    try {
      this.#database.checkpoint(this.#checkpointPages)
    } catch (error) {
      this.#repair(error)
    }
  }

  /** Recovers after the disk failed: tries a transaction at once and then periodically until one succeeds. */
  #repair(cause: unknown): void {
    if (this.#accepts() || this.#probe !== null) return
    this.#refusal = reasonOf(cause)
    this.#probe = setInterval(() => {
      if (!this.#accepts() || this.#probe === null) return
      clearInterval(this.#probe)
      this.#probe = null
      this.#refusal = null
    }, this.#probeIntervalMs)
  }

  #accepts(): boolean {
    try {
      this.#database.touch()
      this.#database.checkpoint(this.#checkpointPages)
      return true
    } catch {
      return false
    }
  }

  /** Reads recent commits from memory, older ones from the file. */
  #log(): LogReader {
    const warm = this.#warmLog
    const file = this.#database
    return {
      get head() {
        return file.head
      },
      get floor() {
        return file.floor
      },
      after: (sequence, kinds) =>
        sequence >= warm.floor ? warm.after(sequence) : this.#read(() => file.after(sequence, kinds)),
    }
  }

  #read<T>(body: () => T): T {
    this.#assertOpen()
    try {
      return body()
    } catch (error) {
      throw new SpoutError('Unavailable', { what: 'the store', reason: reasonOf(error) }, { cause: error })
    }
  }

  #stored(kind: string, { id, scope, revision, value }: ObjectRow): Stored {
    return { kind, id, revision: this.#revision(revision), scope, value }
  }

  #revision(sequence: number): Revision {
    return formatRevision(this.#database.storeId, sequence)
  }

  #assertOpen(): void {
    if (this.#closed) throw new SpoutError('Unavailable', { what: 'the store', reason: 'it is closed' })
  }
}

const refused = (reason: string, cause?: unknown): SpoutError =>
  new SpoutError('StoreUnavailable', { reason }, { cause })
