import type { DatabaseSync } from 'node:sqlite'
import type { LoggedCommit, LoggedWrite } from '../change-log.ts'
import type { Ref, StoreFormat } from '../store.ts'
import { openForReading } from './connection.ts'
import { LARGE_BYTES, type ObjectRow, prepareReads, type ReadStatements, type Row, rows } from './statements.ts'
import { StoredObjects } from './stored-objects.ts'

interface ChangeRow extends Omit<ObjectRow, 'value'> {
  /** Null for a deletion. */
  readonly value: string | null
  readonly isEdit: number
  readonly kind: string
}

/** Where the log begins and ends. */
export interface LogEnds {
  readonly floor: number
  readonly head: number
}

/**
 * Reads the file beside the thread that writes it. Each call sees one durable state: SQLite shows a transaction to other
 * connections once its COMMIT has flushed it. That can be a moment before the writer's answer arrives.
 */
export class FileReader {
  readonly storeId: string
  readonly #connection: DatabaseSync
  readonly #statements: ReadStatements
  readonly #objects: StoredObjects

  /** @param path of a file that is open for writing in this process */
  constructor(path: string) {
    this.#connection = openForReading(path)
    this.#statements = prepareReads(this.#connection)
    this.#objects = new StoredObjects(this.#statements)
    this.storeId = String((this.#statements.store.get() as Row).id)
  }

  get(kind: string, id: string): Omit<ObjectRow, 'id'> | null {
    return this.#snapshot(() => this.#objects.get(kind, id))
  }

  /** @returns `head` is the sequence at which this is the exact list */
  list(
    kind: string,
    scope: string | null | undefined,
  ): { readonly objects: readonly ObjectRow[]; readonly head: number } {
    return this.#snapshot(() => ({ objects: this.#objects.list(kind, scope), head: this.#ends().head }))
  }

  ends(): LogEnds {
    return this.#snapshot(() => this.#ends())
  }

  format(): StoreFormat {
    return this.#snapshot(() => {
      const { version } = this.#statements.version.get() as Row
      const { user_version: usableFrom } = this.#statements.usableFrom.get() as Row
      return { engine: 'sqlite', version: Number(version), usableFrom: Number(usableFrom) }
    })
  }

  /** The objects that are written as edits. */
  large(): readonly Ref[] {
    return rows<Ref>(this.#statements.large.all(LARGE_BYTES))
  }

  /**
   * The first commit after `sequence`; null at the head.
   * @param kinds writes of other kinds are left out; null is all kinds
   * @returns `gone` when the log no longer reaches back to `sequence`
   */
  after(sequence: number, kinds: ReadonlySet<string> | null): LoggedCommit | null | 'gone' {
    return this.#snapshot(() => {
      if (sequence < this.#floor()) return 'gone'
      const found = rows<ChangeRow>(this.#statements.commitAfter.all(sequence))
      const [first] = found
      if (first === undefined) return null
      const due = kinds === null ? found : found.filter(({ kind }) => kinds.has(kind))
      return { sequence: first.revision, writes: due.flatMap((row) => this.#loggedWrite(row)) }
    })
  }

  close(): void {
    this.#connection.close()
  }

  /**
   * A version that was written as edits cannot be rebuilt once the object was written whole again. Its change is left
   * out: a later change of the object follows.
   */
  #loggedWrite({ kind, id, scope, revision, value: text, isEdit }: ChangeRow): LoggedWrite[] {
    if (isEdit === 0) return [{ kind, id, scope, text }]
    const value = this.#objects.at({ kind, id }, revision)
    return value === null ? [] : [{ kind, id, scope, text, value }]
  }

  #ends(): LogEnds {
    const floor = this.#floor()
    const newest = this.#statements.newest.get() as Row | undefined
    return { floor, head: newest === undefined ? floor : Number(newest.position) }
  }

  #floor(): number {
    return Number((this.#statements.store.get() as Row).floor)
  }

  #snapshot<T>(read: () => T): T {
    const { beginRead, endRead } = this.#statements
    beginRead.run()
    try {
      return read()
    } finally {
      // An I/O error may have ended the transaction.
      if (this.#connection.isTransaction) endRead.run()
    }
  }
}
