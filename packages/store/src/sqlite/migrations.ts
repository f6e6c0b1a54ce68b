/**
 * The schema, forward only: entry N migrates a file from version N to N+1. Never edit a released entry; add the next.
 *
 * `change.position` numbers writes without a gap. A commit's `revision` is the position of its last write. `bytes` is a
 * running total over changes, so that the log's size is a subtraction. `edit` holds the edits of large objects since
 * `object` was written; `change.value` holds the same edits where `is_edit` is 1.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE store (
     id          TEXT    NOT NULL,
     floor       INTEGER NOT NULL,
     floor_bytes INTEGER NOT NULL,
     repairs     INTEGER NOT NULL
   ) STRICT;
   INSERT INTO store VALUES (lower(hex(randomblob(4))), 0, 0, 0);

   CREATE TABLE object (
     kind     TEXT    NOT NULL,
     id       TEXT    NOT NULL,
     scope    TEXT,
     revision INTEGER NOT NULL,
     value    TEXT    NOT NULL,
     PRIMARY KEY (kind, id)
   ) STRICT;
   CREATE INDEX object_by_scope ON object (kind, scope, id);

   CREATE TABLE change (
     position INTEGER PRIMARY KEY,
     revision INTEGER NOT NULL,
     bytes    INTEGER NOT NULL,
     kind     TEXT    NOT NULL,
     id       TEXT    NOT NULL,
     scope    TEXT,
     value    TEXT
   ) STRICT;`,
  `ALTER TABLE change ADD COLUMN is_edit INTEGER NOT NULL DEFAULT 0;

   CREATE TABLE edit (
     kind     TEXT    NOT NULL,
     id       TEXT    NOT NULL,
     revision INTEGER NOT NULL,
     edits    TEXT    NOT NULL,
     PRIMARY KEY (kind, id, revision)
   ) STRICT, WITHOUT ROWID;`,
  // Every write updated this index and nothing read it: lists by scope come from memory. Programs of version 2 do
  // without it.
  'DROP INDEX object_by_scope',
]

/**
 * The oldest schema version whose programs can use a file that has all of `MIGRATIONS`. It is stored in the file
 * (`PRAGMA user_version`), so that a program of the previous release accepts a file that was migrated since. A
 * migration may therefore add only what that program can ignore: tables, and columns with a default. Anything else, and
 * anything that removes something that programs need, comes one release after the last program that does. Only then may
 * this number rise.
 */
export const USABLE_FROM = 2
