import type { StatementSync } from 'node:sqlite'

/** Every statement that runs more than once. They are prepared when the file is opened. */
export const STATEMENTS = {
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',

  get: 'SELECT scope, revision, value FROM object WHERE kind = ? AND id = ?',
  present: 'SELECT scope, revision FROM object WHERE kind = ? AND id = ?',
  list: 'SELECT id, scope, revision, value FROM object WHERE kind = ? ORDER BY id',
  listScope: 'SELECT id, scope, revision, value FROM object WHERE kind = ? AND scope IS ? ORDER BY id',
  put: `INSERT INTO object (kind, id, scope, revision, value) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (kind, id) DO UPDATE SET scope = excluded.scope, revision = excluded.revision, value = excluded.value`,
  delete: 'DELETE FROM object WHERE kind = ? AND id = ?',

  large: 'SELECT kind, id, octet_length(value) AS bytes FROM object WHERE octet_length(value) >= ?',
  editedIn: 'SELECT DISTINCT kind, id FROM edit',
  editSum:
    'SELECT count(*) AS count, max(revision) AS revision, sum(length(edits)) AS bytes FROM edit WHERE kind = ? AND id = ?',
  edits: 'SELECT id, revision, edits FROM edit WHERE kind = ? AND id = ? AND revision <= ? ORDER BY revision',
  editsOfKind: 'SELECT id, revision, edits FROM edit WHERE kind = ? ORDER BY id, revision',
  edit: 'INSERT INTO edit (kind, id, revision, edits) VALUES (?, ?, ?, ?)',
  forgetEdits: 'DELETE FROM edit WHERE kind = ? AND id = ?',

  log: 'INSERT INTO change (position, revision, bytes, kind, id, scope, value, is_edit) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  commitAfter: `SELECT revision, kind, id, scope, value, is_edit AS isEdit FROM change
                WHERE position > ?1
                  AND position <= (SELECT revision FROM change WHERE position > ?1 ORDER BY position LIMIT 1)
                ORDER BY position`,
  newest: 'SELECT position, bytes FROM change ORDER BY position DESC LIMIT 1',
  commitAt: 'SELECT revision FROM change WHERE position >= ? ORDER BY position LIMIT 1',
  commitAtBytes: 'SELECT revision FROM change WHERE position > ? AND bytes >= ? ORDER BY position LIMIT 1',
  bytesAt: 'SELECT bytes FROM change WHERE position = ?',
  forget: 'DELETE FROM change WHERE position <= ?',

  store: 'SELECT id, floor, floor_bytes AS floorBytes FROM store',
  setFloor: 'UPDATE store SET floor = ?, floor_bytes = ?',
  touch: 'UPDATE store SET repairs = repairs + 1',

  walSize: 'PRAGMA wal_checkpoint(NOOP)',
  checkpoint: 'PRAGMA wal_checkpoint(PASSIVE)',
} as const

/** The prepared statements of the open file. */
export type Statements = { readonly [name in keyof typeof STATEMENTS]: StatementSync }

/** An object as `get` and `list` return it, with its value parsed. */
export interface ObjectRow {
  readonly id: string
  readonly scope: string | null
  readonly revision: number
  readonly value: unknown
}
