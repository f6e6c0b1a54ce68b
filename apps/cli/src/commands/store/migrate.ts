import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { KINDS, SpoutError } from '@spout/model'
import { Secret } from '@spout/runtime'
import { copyObjects, parsePostgresAddress, SqliteStore } from '@spout/store'
import { PostgresStore } from '@spout/store/postgres'
import { UsageError } from '../connections/context.ts'

export interface MigrateOptions {
  /** The SQLite file. */
  readonly from: string
  readonly server: string
  readonly database: string
  readonly user: string
  readonly passwordFile?: string
  readonly caFile?: string
  readonly tls: boolean
}

/**
 * Copies a SQLite store into an empty database.
 * @returns what was copied, for people
 * @throws UsageError; SpoutError: one of the two cannot be opened, or the database is not empty. Then nothing is copied
 */
export async function migrate({
  from,
  server,
  database,
  user,
  passwordFile,
  caFile,
  tls,
}: MigrateOptions): Promise<string> {
  const address = parsePostgresAddress(server)
  if (address === null) throw new UsageError(`--server ${server}: is no server, such as db1.example:5432`)
  if (!existsSync(from)) throw new UsageError(`--from ${from}: there is no such file`)
  const read = (file: string): Promise<string> =>
    readFile(file, 'utf8').catch((error: Error) => {
      throw new UsageError(error.message)
    })
  const ca = caFile === undefined ? undefined : await read(caFile)
  const password = passwordFile === undefined ? null : new Secret((await read(passwordFile)).replace(/\r?\n$/, ''))
  const source = await SqliteStore.open({ path: from })
  try {
    const target = await PostgresStore.open({
      database: { servers: [address], database, user, password: async () => password, tls: tls ? { ca } : null },
    })
    try {
      const counts = await copyObjects(source, target, Object.keys(KINDS)).catch((error: unknown) => {
        if (error instanceof SpoutError && error.code === 'AlreadyExists')
          throw new UsageError(`database ${database} is not empty: ${error.message}; nothing was copied`)
        throw error
      })
      const lines = [...counts].filter(([, count]) => count > 0).map(([kind, count]) => `${kind} ${count}\n`)
      return `${lines.join('')}copied to database ${database}\n`
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}
