/**
 * The schema, forward only: entry N migrates a database from version N to N+1. Never edit a released entry; add the
 * next.
 *
 * The one row of `store` is what all writers take turns by: it is locked from the start of a transaction to its end, so
 * positions are in the order of commits. `change.position` numbers writes without a gap. A commit's `revision` is the
 * position of its last write. `bytes` is a running total over changes, so that the log's size is a subtraction. `writer`
 * says of each process which of its batches were stored last: it asks when an answer was lost.
 */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE spout.store (
     is_only     boolean PRIMARY KEY DEFAULT true CHECK (is_only),
     id          text    NOT NULL,
     head        bigint  NOT NULL,
     head_bytes  bigint  NOT NULL,
     floor       bigint  NOT NULL,
     floor_bytes bigint  NOT NULL,
     repairs     bigint  NOT NULL
   ) WITH (fillfactor = 10);
   INSERT INTO spout.store (id, head, head_bytes, floor, floor_bytes, repairs)
     VALUES (left(replace(gen_random_uuid()::text, '-', ''), 8), 0, 0, 0, 0, 0);

   CREATE TABLE spout.object (
     kind     text   COLLATE "C" NOT NULL,
     id       text   COLLATE "C" NOT NULL,
     scope    text   COLLATE "C",
     revision bigint NOT NULL,
     value    text   NOT NULL,
     PRIMARY KEY (kind, id)
   ) WITH (fillfactor = 80);

   CREATE TABLE spout.change (
     position bigint PRIMARY KEY,
     revision bigint NOT NULL,
     bytes    bigint NOT NULL,
     kind     text   COLLATE "C" NOT NULL,
     id       text   COLLATE "C" NOT NULL,
     scope    text   COLLATE "C",
     value    text
   );

   CREATE TABLE spout.lease (
     name     text   COLLATE "C" PRIMARY KEY,
     holder   text   COLLATE "C",
     token    bigint NOT NULL,
     until_ms double precision NOT NULL
   );

   CREATE TABLE spout.writer (
     id    text   COLLATE "C" PRIMARY KEY,
     batch bigint NOT NULL,
     at    timestamptz NOT NULL
   ) WITH (fillfactor = 10)`,
]

/**
 * The oldest schema version whose programs can use a database that has all of `MIGRATIONS`. It is stored beside the
 * version, so that a program of the previous release accepts a database that was migrated since.
 */
export const USABLE_FROM = 1
