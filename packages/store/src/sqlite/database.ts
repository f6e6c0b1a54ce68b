import { closeSync, openSync } from 'node:fs'
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { SpoutError } from '@spout/model'
import type { LoggedCommit, LoggedWrite, LogReader, Retention } from '../change-log.ts'
import { checkCondition, type PlannedWrite, wholeText } from '../planned-write.ts'
import type { Ref } from '../store.ts'
import { EditedObjects, type Present } from './edited-objects.ts'
import { lockHolder } from './lock-holder.ts'
import { MIGRATIONS, USABLE_FROM } from './migrations.ts'
import { type ObjectRow, STATEMENTS, type Statements } from './statements.ts'

interface ChangeRow extends Omit<ObjectRow, 'value'> {
  /** Null for a deletion. */
  readonly value: string | null
  readonly isEdit: number
  readonly kind: string
}

/** The result of one commit of a batch. */
export type Outcome = { readonly committed: LoggedCommit } | { readonly error: unknown }

type Row = Record<string, SQLOutputValue>

/** SQLite's primary result codes (sqlite.org/rescode.html). */
const SQLITE_BUSY = 5
const SQLITE_FULL = 13

const resultCode = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null
/** Whether a smaller transaction might have fitted. */
export const isDiskFull = (error: unknown): boolean => ((resultCode(error) ?? 0) & 0xff) === SQLITE_FULL
/** Why SQLite refused, for people. */
export const reasonOf = (error: unknown): string => {
  const code = resultCode(error)
  const text = error instanceof Error ? error.message : String(error)
  return code === null ? text : `${text} (SQLite result ${code})`
}

/**
 * One SQLite file: its lock, schema, statements and transactions. The only module that knows `node:sqlite`.
 *
 * It is durable through WAL with synchronous=FULL: COMMIT returns after the log was flushed. The connection locks the
 * file exclusively, with a kernel lock that ends with the process, and therefore needs no shared memory file.
 */
export class Database implements LogReader {
  readonly storeId: string
  readonly #connection: DatabaseSync
  readonly #statements: Statements
  readonly #retention: Retention
  readonly #edited: EditedObjects
  #head: number
  #headBytes: number
  #floor: number
  #floorBytes: number

  /** @throws SpoutError StoreUnavailable: locked by another process, not a database, damaged, or of a newer program */
  static open(path: string, retention: Retention): Database {
    createPrivate(path)
    let connection: DatabaseSync | null = null
    try {
      connection = new DatabaseSync(path, { timeout: 200 })
      configure(connection)
      migrate(connection)
      checkIntegrity(connection)
      return new Database(connection, retention)
    } catch (error) {
      if (connection?.isOpen) connection.close()
      throw openError(path, error)
    }
  }

  private constructor(connection: DatabaseSync, retention: Retention) {
    this.#connection = connection
    this.#retention = retention
    this.#statements = prepareAll(connection)
    this.#edited = new EditedObjects(this.#statements)
    const store = this.#statements.store.get() as Row
    const newest = this.#statements.newest.get() as Row | undefined
    this.storeId = String(store.id)
    this.#floor = Number(store.floor)
    this.#floorBytes = Number(store.floorBytes)
    this.#head = newest === undefined ? this.#floor : Number(newest.position)
    this.#headBytes = newest === undefined ? this.#floorBytes : Number(newest.bytes)
  }

  get head(): number {
    return this.#head
  }

  get floor(): number {
    return this.#floor
  }

  /** Whether the object is large enough to write edits of it. */
  isLarge(ref: Ref): boolean {
    return this.#edited.isLarge(ref)
  }

  get(kind: string, id: string): Omit<ObjectRow, 'id'> | null {
    return this.#edited.get(kind, id)
  }

  list(kind: string, scope: string | null | undefined): readonly ObjectRow[] {
    return this.#edited.list(kind, scope)
  }

  after(sequence: number, kinds: ReadonlySet<string> | null): LoggedCommit | null {
    const rows = this.#statements.commitAfter.all(sequence) as unknown as readonly ChangeRow[]
    const [first] = rows
    if (first === undefined) return null
    const due = kinds === null ? rows : rows.filter(({ kind }) => kinds.has(kind))
    return { sequence: first.revision, writes: due.flatMap((row) => this.#loggedWrite(row)) }
  }

  /**
   * Applies a batch of commits in one durable transaction. Each commit succeeds or fails on its own.
   * @throws SQLite's error when the transaction failed: then nothing of the batch is stored
   */
  apply(batch: readonly (readonly PlannedWrite[])[]): readonly Outcome[] {
    let head = this.#head
    let headBytes = this.#headBytes
    let floor: readonly [sequence: number, bytes: number] = [this.#floor, this.#floorBytes]
    const outcomes = this.#transaction(() => {
      const results = batch.map((writes): Outcome => {
        const result = this.#applyOne(writes, head, headBytes)
        if ('committed' in result) {
          head = result.committed.sequence
          headBytes += bytesOf(result.committed)
        }
        return result
      })
      floor = this.#trim(head, headBytes)
      return results
    })
    this.#head = head
    this.#headBytes = headBytes
    ;[this.#floor, this.#floorBytes] = floor
    return outcomes
  }

  /** Forgets changes up to the end of the commit at `sequence`. */
  compact(sequence: number): void {
    if (sequence <= this.#floor) return
    const { revision } = this.#statements.commitAt.get(sequence) as Row
    ;[this.#floor, this.#floorBytes] = this.#transaction(() => this.#forget(Number(revision)))
  }

  /**
   * Commits a harmless transaction. After a failed COMMIT this proves that the disk works, and overwrites what the
   * failed one left at the end of the WAL: recovery after a crash could otherwise take that for committed.
   */
  touch(): void {
    this.#transaction(() => this.#statements.touch.run())
  }

  /** Copies the WAL into the database when it has grown to `pages`, so that it is written from its start again. */
  checkpoint(pages: number): void {
    const { log } = this.#statements.walSize.get() as { log: number }
    if (log >= pages) this.#statements.checkpoint.get()
  }

  /** Checkpoints and releases the lock. */
  close(): void {
    this.#connection.close()
  }

  #applyOne(writes: readonly PlannedWrite[], head: number, headBytes: number): Outcome {
    const sequence = head + writes.length
    let there: readonly (Present | null)[]
    try {
      there = this.#check(writes, sequence)
    } catch (error) {
      if (!(error instanceof SpoutError)) throw error
      return { error }
    }
    return { committed: this.#write(writes, there, { sequence, head, headBytes }) }
  }

  /**
   * Checks every condition before anything is written: so a commit that is refused leaves nothing to undo, and no
   * savepoint has to copy each page that is about to change.
   * @returns what each write changes; null where there is nothing or the write does not ask
   * @throws SpoutError NotFound, AlreadyExists, RevisionConflict
   */
  #check(writes: readonly PlannedWrite[], sequence: number): readonly (Present | null)[] {
    /** What earlier writes of this commit leave. */
    const left = new Map<string, Present | null>()
    return writes.map((write) => {
      const key = `${write.kind} ${write.id}`
      const asks = write.text === null || write.condition !== 'none'
      const there = asks ? (left.has(key) ? (left.get(key) ?? null) : this.#edited.present(write)) : null
      if (asks) checkCondition(write, there?.revision ?? null)
      left.set(key, write.text === null ? null : { scope: write.scope, revision: sequence })
      return there
    })
  }

  #write(
    writes: readonly PlannedWrite[],
    before: readonly (Present | null)[],
    { sequence, head, headBytes }: { readonly sequence: number; readonly head: number; readonly headBytes: number },
  ): LoggedCommit {
    const { log } = this.#statements
    let position = head
    let bytes = headBytes
    const logged = writes.map((write, at): LoggedWrite => {
      const { kind, id, value } = write
      const there = before[at] ?? null
      const scope = write.text === null ? (there?.scope ?? null) : write.scope
      const isEdit = write.isEdit && there !== null && this.#edited.edit(write, there.scope, sequence)
      const text = isEdit ? write.text : wholeText(write)
      if (text === null) this.#edited.remove(write)
      else if (!isEdit) this.#edited.put(write, text, sequence)
      position += 1
      bytes += text?.length ?? 0
      log.run(position, sequence, bytes, kind, id, scope, text, isEdit ? 1 : 0)
      return { kind, id, scope, text, ...(value === undefined ? {} : { value }) }
    })
    return { sequence, writes: logged }
  }

  /**
   * Versions that edits led to cannot be rebuilt once they were overwritten. They are left out: a later change of the
   * object follows.
   */
  #loggedWrite({ kind, id, scope, revision, value: text, isEdit }: ChangeRow): LoggedWrite[] {
    if (isEdit === 0) return [{ kind, id, scope, text }]
    const value = this.#edited.at({ kind, id }, revision)
    return value === null ? [] : [{ kind, id, scope, text, value }]
  }

  /** Keeps the log within its retention. It trims in strides, so that most transactions pay nothing for it. */
  #trim(head: number, headBytes: number): readonly [sequence: number, bytes: number] {
    const { changes, bytes } = this.#retention
    const { commitAt, commitAtBytes } = this.#statements
    const over = (value: number, limit: number) => value > limit + limit / 32
    const cut = (statement: StatementSync, ...at: SQLInputValue[]) =>
      this.#forget(Number((statement.get(...at) as Row).revision))
    if (over(head - this.#floor, changes)) return cut(commitAt, head - changes)
    if (over(headBytes - this.#floorBytes, bytes)) return cut(commitAtBytes, this.#floor, headBytes - bytes)
    return [this.#floor, this.#floorBytes]
  }

  #forget(sequence: number): readonly [sequence: number, bytes: number] {
    const { bytesAt, forget, setFloor } = this.#statements
    const bytes = Number((bytesAt.get(sequence) as Row).bytes)
    forget.run(sequence)
    setFloor.run(sequence, bytes)
    return [sequence, bytes]
  }

  #transaction<T>(body: () => T): T {
    const { begin, commit, rollback } = this.#statements
    begin.run()
    try {
      const result = body()
      commit.run()
      return result
    } catch (error) {
      if (this.#connection.isTransaction) rollback.run()
      throw error
    }
  }
}

const bytesOf = (commit: LoggedCommit): number => commit.writes.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)

/**
 * The file holds password and token hashes, so only its owner may read it. An existing file is not even opened: POSIX
 * drops all of a process's locks on a file when the process closes any descriptor of it.
 */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // Either the file exists, or SQLite is about to report why it cannot be created.
  }
}

function configure(connection: DatabaseSync): void {
  connection.exec(`
    PRAGMA locking_mode = EXCLUSIVE;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16384;
    PRAGMA trusted_schema = OFF;
  `)
}

function migrate(connection: DatabaseSync): void {
  connection.exec('BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL) STRICT')
  const row = connection.prepare('SELECT max(version) AS version FROM schema_version').get() as Row
  const { user_version: usableFrom } = connection.prepare('PRAGMA user_version').get() as Row
  const version = Number(row.version ?? 0)
  const isNewer = version > MIGRATIONS.length
  if (isNewer && (usableFrom === 0 || Number(usableFrom) > MIGRATIONS.length))
    throw new Error(`it has schema version ${version}, and this program knows up to ${MIGRATIONS.length}`)
  for (const migration of MIGRATIONS.slice(version)) connection.exec(migration)
  if (version < MIGRATIONS.length)
    connection.exec(`DELETE FROM schema_version; INSERT INTO schema_version VALUES (${MIGRATIONS.length})`)
  // A newer program's value stays: that program knows what it added.
  if (!isNewer && usableFrom !== USABLE_FROM) connection.exec(`PRAGMA user_version = ${USABLE_FROM}`)
  connection.exec('COMMIT')
}

function checkIntegrity(connection: DatabaseSync): void {
  const { quick_check: result } = connection.prepare('PRAGMA quick_check(1)').get() as Row
  if (result !== 'ok') throw new Error(`it is damaged: ${String(result)}`)
}

const prepareAll = (connection: DatabaseSync): Statements =>
  Object.fromEntries(Object.entries(STATEMENTS).map(([name, sql]) => [name, connection.prepare(sql)])) as Statements

function openError(path: string, error: unknown): SpoutError {
  const reason =
    resultCode(error) === SQLITE_BUSY ? inUse(path, lockHolder(path)) : `${path} cannot be used: ${reasonOf(error)}`
  return new SpoutError('StoreUnavailable', { reason }, { cause: error })
}

/** A process that is stopped or hangs ends by SIGKILL only, and keeps its lock until then. */
const inUse = (path: string, holder: number | null): string =>
  holder === null
    ? `${path} is in use by another process: end that one first`
    : `${path} is in use by process ${holder}: end that one first (kill ${holder}; kill -9 ${holder} if it is stopped or hangs)`
