import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'

const READS = {
  /** A snapshot lasts from its first read to its end. */
  beginRead: 'BEGIN',
  endRead: 'COMMIT',
  store: 'SELECT id, floor, floor_bytes AS floorBytes FROM store',
  version: 'SELECT max(version) AS version FROM schema_version',
  usableFrom: 'PRAGMA user_version',
  newest: 'SELECT position, bytes FROM change ORDER BY position DESC LIMIT 1',
  get: 'SELECT scope, revision, value FROM object WHERE kind = ? AND id = ?',
  list: 'SELECT id, scope, revision, value FROM object WHERE kind = ? ORDER BY id',
  listScope: 'SELECT id, scope, revision, value FROM object WHERE kind = ? AND scope IS ? ORDER BY id',
  large: 'SELECT kind, id, octet_length(value) AS bytes FROM object WHERE octet_length(value) >= ?',
  edits: 'SELECT id, revision, edits FROM edit WHERE kind = ? AND id = ? AND revision <= ? ORDER BY revision',
  editsOfKind: 'SELECT id, revision, edits FROM edit WHERE kind = ? ORDER BY id, revision',
  commitAfter: `SELECT revision, kind, id, scope, value, is_edit AS isEdit FROM change
                WHERE position > ?1
                  AND position <= (SELECT revision FROM change WHERE position > ?1 ORDER BY position LIMIT 1)
                ORDER BY position`,
} as const

const WRITES = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',

  present: 'SELECT scope, revision FROM object WHERE kind = ? AND id = ?',
  put: `INSERT INTO object (kind, id, scope, revision, value) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (kind, id) DO UPDATE SET scope = excluded.scope, revision = excluded.revision, value = excluded.value`,
  delete: 'DELETE FROM object WHERE kind = ? AND id = ?',

  editedIn: 'SELECT DISTINCT kind, id FROM edit',
  editSum:
    'SELECT count(*) AS count, max(revision) AS revision, ifnull(sum(octet_length(edits)), 0) AS bytes FROM edit WHERE kind = ? AND id = ?',
  edit: 'INSERT INTO edit (kind, id, revision, edits) VALUES (?, ?, ?, ?)',
  forgetEdits: 'DELETE FROM edit WHERE kind = ? AND id = ?',

  log: 'INSERT INTO change (position, revision, bytes, kind, id, scope, value, is_edit) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  commitAt: 'SELECT revision FROM change WHERE position >= ? ORDER BY position LIMIT 1',
  commitAtBytes: 'SELECT revision FROM change WHERE position > ? AND bytes >= ? ORDER BY position LIMIT 1',
  bytesAt: 'SELECT bytes FROM change WHERE position = ?',
  forget: 'DELETE FROM change WHERE position <= ?',

  setFloor: 'UPDATE store SET floor = ?, floor_bytes = ?',
  touch: 'UPDATE store SET repairs = repairs + 1',

  walSize: 'PRAGMA wal_checkpoint(NOOP)',
  /** Waits until no read needs the WAL, so that the next write begins it anew. */
  checkpoint: 'PRAGMA wal_checkpoint(RESTART)',
} as const

/** Every statement that runs more than once. They are prepared when the file is opened. */
export const STATEMENTS = { ...READS, ...WRITES } as const

type Prepared<T> = { readonly [name in keyof T]: StatementSync }
/** The prepared statements of a connection that reads. */
export type ReadStatements = Prepared<typeof READS>
/** The prepared statements of a connection that writes. */
export type Statements = Prepared<typeof STATEMENTS>

const prepare = <T extends Readonly<Record<string, string>>>(connection: DatabaseSync, statements: T): Prepared<T> =>
  Object.fromEntries(Object.entries(statements).map(([name, sql]) => [name, connection.prepare(sql)])) as Prepared<T>
export const prepareReads = (connection: DatabaseSync): ReadStatements => prepare(connection, READS)
export const prepareAll = (connection: DatabaseSync): Statements => prepare(connection, STATEMENTS)

export type Row = Record<string, SQLOutputValue>
export const rows = <T>(found: readonly Row[]): readonly T[] => found as unknown as readonly T[]

/** An object as `get` and `list` return it, with its value parsed. */
export interface ObjectRow {
  readonly id: string
  readonly scope: string | null
  readonly revision: number
  readonly value: unknown
}

/** Objects of at least this size are written as edits. */
export const LARGE_BYTES = 16_384
