import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { lockHolder } from './lock-holder.ts'
import { MIGRATIONS, USABLE_FROM } from './migrations.ts'
import { isBusy, reasonOf } from './sqlite-error.ts'
import type { Row } from './statements.ts'

/**
 * How long a checkpoint waits for a read by the event loop before it gives up, to be tried again later. The commits that
 * wait for it lose no time: the event loop could not answer them while it reads.
 */
const LONGEST_READ_MS = 5000

/**
 * SQLite's VFS `unix-excl` (sqlite.org/vfs.html) locks the file for this process alone, with a kernel lock that ends
 * with the process, and keeps the index of the WAL in memory, where all threads of the process share it.
 */
function uriOf(path: string): URL {
  const uri = pathToFileURL(resolve(path))
  uri.searchParams.set('vfs', 'unix-excl')
  return uri
}

/**
 * The connection that writes. It locks the file, and brings its schema up to date.
 *
 * It is durable through WAL with synchronous=FULL: COMMIT returns after the log was flushed, and only then do other
 * connections see the transaction.
 * @throws Error with the path and the reason: locked by another process, not a database, damaged, or of a newer program
 */
export function openForWriting(path: string): DatabaseSync {
  let connection: DatabaseSync | null = null
  try {
    connection = new DatabaseSync(uriOf(path), { timeout: 200 })
    configure(connection)
    migrate(connection)
    checkIntegrity(connection)
    connection.exec(`PRAGMA busy_timeout = ${LONGEST_READ_MS}`)
    return connection
  } catch (error) {
    if (connection?.isOpen) connection.close()
    const reason = isBusy(error) ? inUse(path, lockHolder(path)) : `${path} cannot be used: ${reasonOf(error)}`
    throw new Error(reason, { cause: error })
  }
}

/**
 * A connection of the same process that reads what is durable. It is opened after the one that writes, and closed
 * before.
 */
export function openForReading(path: string): DatabaseSync {
  const connection = new DatabaseSync(uriOf(path), { readOnly: true, timeout: 200 })
  connection.exec('PRAGMA cache_size = -4096; PRAGMA trusted_schema = OFF')
  return connection
}

/** Says who has the file. A process that is stopped or hangs ends by SIGKILL only, and keeps its lock until then. */
export const inUse = (path: string, holder: number | null): string =>
  holder === null
    ? `${path} is in use by another process: end that one first`
    : `${path} is in use by process ${holder}: end that one first (kill ${holder}; kill -9 ${holder} if it is stopped or hangs)`

function configure(connection: DatabaseSync): void {
  connection.exec(`
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
