import type { BatchPlan } from '../batch-plan.ts'
import type { Ref } from '../store.ts'
import type { Statement } from './session.ts'

/** Only what this file makes itself may stand in a statement's text. */
const numeral = (value: number): string => {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no position`)
  return String(value)
}
const UUID = /^[0-9a-f-]{36}$/
const quotedUuid = (value: string): string => {
  if (!UUID.test(value)) throw new RangeError(`${value} is no UUID`)
  return `'${value}'`
}

/** Forgets the changes up to the end of the commit with the first change of `chosen`. */
const cut = (chosen: string): string =>
  `WITH cut AS (SELECT c.position, c.bytes FROM spout.change c WHERE c.position = (${chosen})),
     gone AS (DELETE FROM spout.change c USING cut WHERE c.position <= cut.position)
   UPDATE spout.store s SET floor = cut.position, floor_bytes = cut.bytes FROM cut WHERE cut.position > s.floor
   RETURNING s.floor`

/** How many rows of the log, and bytes of values, one answer has. A commit is never divided. */
const CHUNK = { rows: 512, bytes: 4 * 1024 * 1024 }

const OBJECT = 'o.id, o.scope, o.revision, o.value'

export const SQL = {
  ends: 'SELECT id, head, floor FROM spout.store',
  format: 'SELECT version, usable_from FROM spout.schema_version',
  /** Of every transaction that writes the log, the first statement: the others wait. */
  lockStore: 'SELECT head, head_bytes, floor, floor_bytes FROM spout.store FOR UPDATE',
  /** Nobody can take a lease until the transaction has ended. */
  lockLeases: 'SELECT name, holder, token FROM spout.lease FOR SHARE',
  touch: 'UPDATE spout.store SET repairs = repairs + 1',
  writer: (id: string): string => `SELECT batch FROM spout.writer WHERE id = ${quotedUuid(id)}`,
  /** Those of processes that ended long ago. */
  forgetWriters: "DELETE FROM spout.writer WHERE at < now() - interval '7 days'",

  present: (refs: readonly Ref[]): Statement => ({
    name: 'present',
    text: `SELECT o.kind, o.id, o.scope, o.revision FROM unnest($1::text[], $2::text[]) AS r (kind, id)
           JOIN spout.object o ON o.kind = r.kind AND o.id = r.id`,
    values: [refs.map(({ kind }) => kind), refs.map(({ id }) => id)],
  }),

  append: ({ rows, end }: BatchPlan, writer: { readonly id: string; readonly batch: number }): Statement => ({
    name: 'append',
    text: `WITH given AS MATERIALIZED (
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[])
               AS g (position, revision, bytes, kind, id, scope, value, is_last)
           ), logged AS (
             INSERT INTO spout.change (position, revision, bytes, kind, id, scope, value)
             SELECT position, revision, bytes, kind, id, scope, value FROM given
           ), written AS (
             INSERT INTO spout.object (kind, id, scope, revision, value)
             SELECT kind, id, scope, revision, value FROM given WHERE is_last AND value IS NOT NULL
             ON CONFLICT (kind, id) DO UPDATE
             SET scope = excluded.scope, revision = excluded.revision, value = excluded.value
           ), removed AS (
             DELETE FROM spout.object o USING given g
             WHERE g.is_last AND g.value IS NULL AND o.kind = g.kind AND o.id = g.id
           ), marked AS (
             INSERT INTO spout.writer (id, batch, at) VALUES ($9, $10, now())
             ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, at = excluded.at
           ), ended AS (
             UPDATE spout.store SET head = $11, head_bytes = $12
           )
           SELECT pg_notify('spout', '')`,
    values: [
      ...[rows.map(({ position }) => position), rows.map(({ revision }) => revision), rows.map(({ bytes }) => bytes)],
      ...[rows.map(({ kind }) => kind), rows.map(({ id }) => id), rows.map(({ scope }) => scope)],
      ...[rows.map(({ text }) => text), rows.map(({ isLast }) => isLast)],
      ...[writer.id, writer.batch, end.head, end.headBytes],
    ],
  }),

  cut: (position: number): string =>
    cut(`SELECT revision FROM spout.change WHERE position >= ${numeral(position)} ORDER BY position LIMIT 1`),
  cutBytes: (floor: number, bytes: number): string =>
    cut(
      `SELECT revision FROM spout.change WHERE position > ${numeral(floor)} AND bytes >= ${numeral(bytes)} ORDER BY position LIMIT 1`,
    ),

  get: (kind: string, id: string): Statement => ({
    name: 'get',
    text: `SELECT ${OBJECT} FROM spout.object o WHERE o.kind = $1 AND o.id = $2`,
    values: [kind, id],
  }),
  /** A row with the log's end alone when there are no objects. */
  list: (kind: string, scope: string | null | undefined): Statement =>
    scope === undefined
      ? {
          name: 'list',
          text: `SELECT s.head, ${OBJECT} FROM spout.store s LEFT JOIN spout.object o ON o.kind = $1 ORDER BY o.id`,
          values: [kind],
        }
      : {
          name: 'list-of-scope',
          text: `SELECT s.head, ${OBJECT} FROM spout.store s
                 LEFT JOIN spout.object o ON o.kind = $1 AND o.scope IS NOT DISTINCT FROM $2 ORDER BY o.id`,
          values: [kind, scope],
        },
  after: (position: number): Statement => ({
    name: 'after',
    text: `SELECT position, revision, kind, id, scope, value FROM spout.change
           WHERE position > $1 AND position <= coalesce(
             (SELECT revision FROM spout.change
              WHERE position > $1 AND (position >= $1 + ${CHUNK.rows} OR bytes >= ${CHUNK.bytes} + coalesce(
                (SELECT bytes FROM spout.change WHERE position = $1), (SELECT floor_bytes FROM spout.store)))
              ORDER BY position LIMIT 1), 9223372036854775807)
           ORDER BY position`,
    values: [position],
  }),

  /**
   * One statement takes or renews a lease. Without a row somebody else has it.
   * @param nowMs null: the server's clock
   */
  claim: (name: string, holder: string, ttlMs: number, nowMs: number | null): Statement => {
    const now = 'coalesce($4::double precision, extract(epoch FROM clock_timestamp()) * 1000)'
    return {
      name: 'claim',
      text: `INSERT INTO spout.lease AS l (name, holder, token, until_ms)
             VALUES ($1, $2, 1, ${now} + $3::double precision)
             ON CONFLICT (name) DO UPDATE SET
               token = l.token + CASE WHEN l.holder IS NOT DISTINCT FROM excluded.holder THEN 0 ELSE 1 END,
               holder = excluded.holder, until_ms = ${now} + $3::double precision
             WHERE l.holder IS NULL OR l.holder = excluded.holder OR l.until_ms <= ${now}
             RETURNING holder, token`,
      values: [name, holder, ttlMs, nowMs],
    }
  },
  lease: (name: string): Statement => ({
    name: 'lease',
    text: 'SELECT holder, token FROM spout.lease WHERE name = $1',
    values: [name],
  }),
  release: (name: string, holder: string, token: number): Statement => ({
    name: 'release',
    text: 'UPDATE spout.lease SET holder = NULL WHERE name = $1 AND holder = $2 AND token = $3',
    values: [name, holder, token],
  }),
} as const
