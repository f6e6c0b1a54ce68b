import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Retention } from '../change-log.ts'
import { conflictOf } from '../condition.ts'
import { openForWriting } from './connection.ts'
import { ObjectWrites, type Present } from './object-writes.ts'
import { prepareAll, type Row, type Statements } from './statements.ts'
import type { Outcome, SentWrite } from './writer-messages.ts'

/** The transactions of a SQLite file. Each of its methods that write blocks until the disk has flushed. */
export class FileWriter {
  readonly #connection: DatabaseSync
  readonly #statements: Statements
  readonly #retention: Retention
  readonly #objects: ObjectWrites
  #head: number
  #headBytes: number
  #floor: number
  #floorBytes: number

  /** @throws Error with the reason: locked by another process, not a database, damaged, or of a newer program */
  constructor(path: string, retention: Retention) {
    this.#connection = openForWriting(path)
    this.#retention = retention
    this.#statements = prepareAll(this.#connection)
    this.#objects = new ObjectWrites(this.#statements)
    const store = this.#statements.store.get() as Row
    const newest = this.#statements.newest.get() as Row | undefined
    this.#floor = Number(store.floor)
    this.#floorBytes = Number(store.floorBytes)
    this.#head = newest === undefined ? this.#floor : Number(newest.position)
    this.#headBytes = newest === undefined ? this.#floorBytes : Number(newest.bytes)
  }

  get floor(): number {
    return this.#floor
  }

  /**
   * Applies a batch of commits in one durable transaction. Each commit succeeds or fails on its own.
   * @throws SQLite's error when the transaction failed: then nothing of the batch is stored
   */
  apply(batch: readonly (readonly SentWrite[])[]): readonly Outcome[] {
    let head = this.#head
    let headBytes = this.#headBytes
    let floor: readonly [sequence: number, bytes: number] = [this.#floor, this.#floorBytes]
    const outcomes = this.#transaction(() => {
      const results = batch.map((writes): Outcome => {
        const outcome = this.#applyOne(writes, head, headBytes)
        if ('sequence' in outcome) {
          head = outcome.sequence
          headBytes += bytesOf(writes)
        }
        return outcome
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

  /**
   * Checks every condition before anything is written: so a commit that is refused leaves nothing to undo, and no
   * savepoint has to copy each page that is about to change.
   */
  #applyOne(writes: readonly SentWrite[], head: number, headBytes: number): Outcome {
    const sequence = head + writes.length
    /** What earlier writes of this commit leave. */
    const left = new Map<string, Present | null>()
    const before: (Present | null)[] = []
    for (const write of writes) {
      const key = `${write.kind} ${write.id}`
      const asks = write.text === null || write.condition !== 'none'
      const there = asks ? (left.has(key) ? (left.get(key) ?? null) : this.#objects.present(write)) : null
      if (asks) {
        const conflict = conflictOf(write, there?.revision ?? null)
        if (conflict !== null) return { conflict, ref: { kind: write.kind, id: write.id } }
      }
      if (write.isEdit && !this.#objects.takesEdits(write, there)) return { wholeIsDue: true }
      left.set(key, write.text === null ? null : { scope: write.scope, revision: sequence })
      before.push(there)
    }
    const scopes = writes.map(({ text, scope }, at) => (text === null ? (before[at]?.scope ?? null) : scope))
    this.#write(writes, scopes, { sequence, head, headBytes })
    return { sequence, scopes }
  }

  #write(
    writes: readonly SentWrite[],
    scopes: readonly (string | null)[],
    { sequence, head, headBytes }: { readonly sequence: number; readonly head: number; readonly headBytes: number },
  ): void {
    const { log } = this.#statements
    let position = head
    let bytes = headBytes
    for (const [at, write] of writes.entries()) {
      const { kind, id, text, isEdit } = write
      if (text === null) this.#objects.remove(write)
      else if (isEdit) this.#objects.edit(write, text, sequence)
      else this.#objects.put(write, text, sequence)
      position += 1
      bytes += text?.length ?? 0
      log.run(position, sequence, bytes, kind, id, scopes[at] ?? null, text, isEdit ? 1 : 0)
    }
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
      this.#objects.rolledBack()
      throw error
    }
  }
}

const bytesOf = (writes: readonly SentWrite[]): number => writes.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)
