import { SpoutError } from '@spout/model'
import { type Clock, systemClock } from '@spout/runtime'
import { ChangeLog, type LoggedCommit, type LogReader, type Retention } from '../change-log.ts'
import { GroupCommit, type Settled } from '../group-commit.ts'
import type { Lease } from '../leases/leases.ts'
import { LocalLeases } from '../leases/local-leases.ts'
import { type PlannedWrite, planWrite, planWrites, wholeWrite } from '../planned-write.ts'
import { formatRevision, parseRevision } from '../revision.ts'
import type {
  Change,
  CommitOptions,
  ListResult,
  Ref,
  Revision,
  Store,
  Stored,
  StoreFormat,
  StoreHealth,
  WatchOptions,
  Write,
} from '../store.ts'
import { KnownValues } from '../values/known-values.ts'
import { Watches } from '../watches.ts'
import { inUse } from './connection.ts'
import { claimFile } from './file-claim.ts'
import { FileReader } from './file-reader.ts'
import { LargeObjects } from './large-objects.ts'
import { reasonOf } from './sqlite-error.ts'
import type { ObjectRow } from './statements.ts'
import { Writer } from './writer.ts'
import type { Outcome, WriterState } from './writer-messages.ts'

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
  /** For the time of leases. */
  readonly clock?: Clock
}

interface PlannedCommit {
  readonly writes: readonly PlannedWrite[]
  /** Undefined: it needs none. */
  readonly lease: Lease | undefined
}

const COMMITS_PER_FLUSH = 256
/**
 * A disk that takes longer than this for a flush hangs. Commits wait for it, and the store reports that it is not
 * writable.
 */
const HUNG_AFTER_MS = 5_000
/**
 * Recent commits that are kept in memory. A watch that keeps up never reads the file, where each large object has to be
 * rebuilt from its edits. A change of members in 500 load balancers of a thousand members each is 6 MiB of edits. Of
 * 10,000 routes each version has a list of its own of 80 KiB.
 */
const WARM: Retention = { changes: 4096, bytes: 48 * 1024 * 1024 }

/**
 * The default store: one SQLite file, one process, every acknowledged commit flushed to disk. A thread of its own writes
 * the file and waits for the disk; this one reads it.
 */
export class SqliteStore implements Store {
  readonly leases: LocalLeases
  readonly #writer: Writer
  readonly #file: FileReader
  readonly #release: () => void
  readonly #known = new KnownValues()
  readonly #large: LargeObjects
  readonly #warmLog: ChangeLog
  readonly #watches: Watches
  readonly #commits: GroupCommit<PlannedCommit, number>
  readonly #probeIntervalMs: number
  /** The newest sequence that was seen in this thread. The one that writes may be ahead. */
  #head: number
  #state: WriterState
  #probe: NodeJS.Timeout | null = null
  /** When the flush that is under way began (`performance.now()`); null for none. */
  #flushingSinceMs: number | null = null
  #closing: Promise<void> | null = null

  /**
   * @throws SpoutError StoreUnavailable: another process has it open (the message says which), or the file cannot be
   * used
   */
  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    const { path } = options
    const release = claimFile(path)
    if (release === null) throw refused(inUse(path, process.pid))
    let writer: Writer | null = null
    let follow = (_: WriterState): void => {}
    try {
      const retention = options.retention ?? { changes: 50_000, bytes: 256 * 1024 * 1024 }
      const settings = { path, retention, checkpointPages: options.checkpointPages ?? 1000 }
      writer = await Writer.open(settings, (state) => follow(state))
      const store = new SqliteStore(options, writer, release)
      follow = (state) => store.#follow(state)
      return store
    } catch (error) {
      await writer?.close()
      release()
      throw refused(reasonOf(error), error)
    }
  }

  private constructor(options: SqliteStoreOptions, writer: Writer, release: () => void) {
    this.#writer = writer
    this.#release = release
    this.#file = new FileReader(options.path)
    this.#large = new LargeObjects(this.#file.large())
    const { head, floor } = this.#file.ends()
    this.#head = head
    this.#state = { refusal: null, floor }
    this.#warmLog = new ChangeLog(WARM, head)
    this.#watches = new Watches(this.#file.storeId, this.#log(), options.bookmarkIntervalMs ?? 10_000, this.#known)
    this.#commits = new GroupCommit((batch) => this.#flush(batch), { maxBatch: COMMITS_PER_FLUSH })
    this.#probeIntervalMs = options.probeIntervalMs ?? 500
    this.leases = new LocalLeases({
      clock: options.clock ?? systemClock,
      head: () => this.#head,
      settled: () => this.#settled(),
    })
  }

  health(): StoreHealth {
    const reason = this.#closing === null ? (this.#state.refusal ?? this.#hung()) : 'the store is closed'
    return { writable: reason === null, reason }
  }

  #hung(): string | null {
    const tookMs = this.#flushingSinceMs === null ? 0 : performance.now() - this.#flushingSinceMs
    return tookMs < HUNG_AFTER_MS ? null : `the disk has not flushed for ${Math.round(tookMs / 1000)} s`
  }

  async get(kind: string, id: string): Promise<Stored | null> {
    const row = this.#read(() => this.#file.get(kind, id))
    return row === null ? null : this.#stored(kind, { id, ...row })
  }

  async list(kind: string, { scope }: { readonly scope?: string | null } = {}): Promise<ListResult> {
    const { objects, head } = this.#read(() => this.#file.list(kind, scope))
    this.#see(head)
    return { items: objects.map((row) => this.#stored(kind, row)), revision: this.#revision(head) }
  }

  async commit(
    writes: readonly Write[],
    { turn, yields = false, lease }: CommitOptions = {},
  ): Promise<{ readonly revision: Revision }> {
    this.#assertOpen()
    const encoding = { known: this.#known, isLarge: (ref: Ref) => this.#large.has(ref) }
    const { storeId } = this.#file
    const planned =
      turn === undefined
        ? writes.map((write) => planWrite(storeId, write, encoding))
        : await planWrites(storeId, writes, encoding, turn)
    if (turn !== undefined) this.#assertOpen()
    const sequence =
      planned.length === 0 ? this.#head : await this.#commits.submit({ writes: planned, lease }, { yields })
    return { revision: this.#revision(sequence) }
  }

  watch(options: WatchOptions): AsyncIterable<Change> {
    return this.#watches.watch(options)
  }

  async revision(): Promise<Revision> {
    this.#assertOpen()
    return this.#revision(this.#head)
  }

  async compact(revision: Revision): Promise<void> {
    this.#assertOpen()
    const sequence = parseRevision(this.#file.storeId, revision)
    if (sequence === null || sequence > this.#head) throw new SpoutError('Gone', { revision })
    const reason = await this.#writer.compact(sequence)
    if (reason !== null) throw refused(reason)
    this.#watches.notify()
  }

  async format(): Promise<StoreFormat> {
    return this.#read(() => this.#file.format())
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#watches.close()
    await this.#commits.drain()
    if (this.#probe !== null) clearTimeout(this.#probe)
    this.#file.close()
    await this.#writer.close()
    this.#release()
  }

  /**
   * Applies a batch, without the commits whose lease is lost. They are looked at when the batch is handed to the thread:
   * who takes a lease waits for the thread (`#settled`).
   */
  async #flush(batch: readonly PlannedCommit[]): Promise<readonly Settled<number>[]> {
    const { refusal } = this.#state
    if (refusal !== null) return batch.map(() => ({ error: refused(refusal) }))
    const losses = batch.map(({ lease }) => this.leases.lossOf(lease))
    if (losses.every((loss) => loss === null)) return this.#apply(batch)
    const held = await this.#apply(batch.filter((_, at) => losses[at] === null))
    let next = 0
    return losses.map((loss) => (loss === null ? held[next++]! : { error: loss }))
  }

  /** Applies a batch in the thread, and publishes what is durable. */
  async #apply(batch: readonly PlannedCommit[]): Promise<readonly Settled<number>[]> {
    if (batch.length === 0) return []
    this.#flushingSinceMs = performance.now()
    const outcomes = await this.#writer
      .flush(batch.map(({ writes }) => writes.map(({ value: _, ...sent }) => sent)))
      .finally(() => {
        this.#flushingSinceMs = null
      })
    const due = batch
      .filter((_, at) => 'wholeIsDue' in outcomes[at]!)
      .map(({ writes, lease }) => ({ writes: writes.map(wholeWrite), lease }))
    const settled = outcomes.map((outcome, at) => this.#settle(batch[at]!.writes, outcome))
    this.#watches.notify()
    const whole = due.length === 0 ? [] : await this.#flush(due)
    let next = 0
    return settled.map((one) => one ?? whole[next++]!)
  }

  /** The thread does one thing after the other: when it answers, whatever it was given before is done. */
  async #settled(): Promise<void> {
    this.#assertOpen()
    await this.#writer.probe()
  }

  /** @returns null when it has to be written whole */
  #settle(writes: readonly PlannedWrite[], outcome: Outcome): Settled<number> | null {
    if ('wholeIsDue' in outcome) return null
    if ('refused' in outcome) return { error: refused(outcome.refused) }
    if ('conflict' in outcome) {
      const { conflict, ref } = outcome
      return { error: new SpoutError(conflict, { what: ref.kind, id: ref.id }) }
    }
    const { sequence, scopes } = outcome
    for (const write of writes) this.#large.note(write)
    this.#warmLog.append({
      sequence,
      writes: writes.map(({ kind, id, text, value, heldBytes = 0 }, at) => {
        const logged = { kind, id, scope: scopes[at] ?? null, text }
        return value === undefined ? logged : { ...logged, value, heldBytes }
      }),
    })
    this.#see(sequence)
    return { value: sequence }
  }

  #see(sequence: number): void {
    this.#head = Math.max(this.#head, sequence)
  }

  /** A disk that failed is tried again; the answer comes back here. */
  #follow(state: WriterState): void {
    this.#state = state
    if (state.refusal === null || this.#closing !== null) return
    this.#probe ??= setTimeout(() => {
      this.#probe = null
      void this.#writer.probe()
    }, this.#probeIntervalMs)
  }

  /** Reads recent commits from memory, older ones from the file. */
  #log(): LogReader {
    const warm = this.#warmLog
    const head = () => this.#head
    const floor = () => this.#state.floor
    return {
      older: null,
      get head() {
        return head()
      },
      get floor() {
        return floor()
      },
      after: (sequence, kinds) => (sequence >= warm.floor ? warm.after(sequence) : this.#afterInFile(sequence, kinds)),
    }
  }

  #afterInFile(sequence: number, kinds: ReadonlySet<string> | null): LoggedCommit | null {
    const commit = this.#read(() => this.#file.after(sequence, kinds))
    if (commit === 'gone') throw new SpoutError('Gone', { revision: this.#revision(sequence) })
    if (commit !== null) this.#see(commit.sequence)
    return commit
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
    return formatRevision(this.#file.storeId, sequence)
  }

  #assertOpen(): void {
    if (this.#closing !== null) throw new SpoutError('Unavailable', { what: 'the store', reason: 'it is closed' })
  }
}

const refused = (reason: string, cause?: unknown): SpoutError =>
  new SpoutError('StoreUnavailable', { reason }, { cause })
