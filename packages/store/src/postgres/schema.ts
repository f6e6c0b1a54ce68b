import { MIGRATIONS, USABLE_FROM } from './migrations.ts'
import type { Session } from './session.ts'

/** `server_version_num` of PostgreSQL 13: the first with `gen_random_uuid()` of its own. */
const OLDEST_SERVER = 130_000
/** Of the lock that is held while the schema is made or migrated: "spout" in ASCII. */
const LOCK = 0x73_70_6f_75_74

/**
 * Refuses a server that cannot keep what it acknowledges.
 * @throws Error with the reason
 */
export async function checkServer(session: Session): Promise<void> {
  const { rows } = await session.query<{
    readonly version: string
    readonly number: number
    readonly encoding: string
    readonly flushes: string
    readonly standby: boolean
  }>(`SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
        current_setting('server_encoding') AS encoding, current_setting('fsync') AS flushes,
        pg_is_in_recovery() AS standby`)
  const { version, number, encoding, flushes, standby } = rows[0]!
  if (number < OLDEST_SERVER) throw new Error(`it is PostgreSQL ${version}: 13 or newer is needed`)
  if (encoding !== 'UTF8') throw new Error(`the database's encoding is ${encoding}: create it with ENCODING 'UTF8'`)
  if (flushes !== 'on') throw new Error('its setting fsync is off: a crash would lose what was acknowledged')
  if (standby) throw new Error('it is a standby, which takes no writes')
}

/**
 * Makes the schema, or brings it up to date. Everything or nothing is done, and by one process at a time.
 * @throws Error: it is of a newer program, or somebody else's tables are in the schema
 */
export async function prepareSchema(session: Session): Promise<void> {
  await session.query(`BEGIN; SELECT pg_advisory_xact_lock(${LOCK})`)
  try {
    await migrate(session)
    await session.query('COMMIT')
  } catch (error) {
    if (session.isOpen) await session.query('ROLLBACK')
    throw error
  }
}

async function migrate(session: Session): Promise<void> {
  const version = await versionOf(session)
  for (const migration of MIGRATIONS.slice(version)) await session.query(migration)
  if (version < MIGRATIONS.length)
    await session.query(
      `DELETE FROM spout.schema_version; INSERT INTO spout.schema_version VALUES (${MIGRATIONS.length}, ${USABLE_FROM})`,
    )
}

async function versionOf(session: Session): Promise<number> {
  const { rows: tables } = await session.query<{ readonly name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = to_regnamespace('spout') AND relkind <> 'i' ORDER BY 1`,
  )
  const names = tables.map(({ name }) => name)
  if (names.length === 0) {
    await session.query(
      'CREATE SCHEMA IF NOT EXISTS spout; CREATE TABLE spout.schema_version (version int NOT NULL, usable_from int NOT NULL)',
    )
    return 0
  }
  if (!names.includes('schema_version') || !names.includes('change'))
    throw new Error(`its schema spout has tables that are not Spout's (${names.join(', ')}): use another database`)
  const { rows } = await session.query<{ readonly version: number; readonly usable_from: number }>(
    'SELECT version, usable_from FROM spout.schema_version',
  )
  const { version = 0, usable_from: usableFrom = 0 } = rows[0] ?? {}
  if (version > MIGRATIONS.length && (usableFrom === 0 || usableFrom > MIGRATIONS.length))
    throw new Error(`it has schema version ${version}, and this program knows up to ${MIGRATIONS.length}`)
  if (version === 0) throw new Error('its schema spout has no version: restore a backup')
  return Math.min(version, MIGRATIONS.length)
}
