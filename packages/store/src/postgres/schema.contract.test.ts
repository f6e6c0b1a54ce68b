import { Secret } from '@spout/runtime'
import { freePort } from '@spout/testkit/free-port'
import { PostgresServer } from '@spout/testkit/postgres-server'
import { issueCertificate } from '@spout/testkit/tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { put } from '../conformance/subject.ts'
import { FORMATS } from '../formats.ts'
import { MIGRATIONS } from './migrations.ts'
import { PostgresStore } from './postgres-store.ts'
import { checkServer } from './schema.ts'
import { serverStates } from './server-states.ts'
import type { Session } from './session.ts'
import type { PostgresSettings } from './settings.ts'
import { PostgresDatabases, settingsOf } from './testing/postgres-databases.ts'

const PASSWORD = 'correct horse battery staple'

let databases: PostgresDatabases
let port: number
const authority = issueCertificate({ isAuthority: true })
beforeAll(async () => {
  port = await freePort()
  const issued = issueCertificate({ issuer: authority, alternatives: 'IP:127.0.0.1' })
  databases = await PostgresDatabases.start({ port, tls: issued })
  await databases.server.sql(`CREATE ROLE spout LOGIN PASSWORD '${PASSWORD}'`)
})
afterAll(() => databases.server.dispose())

const refusal = (database: PostgresSettings): Promise<string> =>
  PostgresStore.open({ database }).then(
    async (store) => {
      await store.close()
      return 'opened'
    },
    (error: unknown) => String(error),
  )
/** Every object in the database that is not PostgreSQL's. */
const contents = (database: string) =>
  databases.server.sql(
    `SELECT relnamespace::regnamespace, relname FROM pg_class
     WHERE relnamespace::regnamespace::text NOT IN ('pg_catalog', 'pg_toast', 'information_schema') ORDER BY 1, 2`,
    database,
  )

describe('a database that cannot be used is refused, and nothing in it changes', () => {
  test.each<[string, string, RegExp]>([
    [
      'somebody else’s tables in the schema',
      'CREATE SCHEMA spout; CREATE TABLE spout.orders (id int)',
      /schema spout has tables that are not Spout's \(orders\)/,
    ],
    [
      'somebody else’s table of versions',
      'CREATE SCHEMA spout; CREATE TABLE spout.schema_version (id int)',
      /tables that are not Spout's/,
    ],
  ])('%s', async (_, sql, expected) => {
    const database = await databases.create()
    await databases.server.sql(sql, database.database)
    const before = await contents(database.database)
    expect(await refusal(database)).toMatch(expected)
    expect(await contents(database.database)).toBe(before)
  })

  test('a schema of a newer program, unless that says otherwise', async () => {
    const database = await databases.create()
    const store = await PostgresStore.open({ database })
    await store.commit([put('a')])
    expect(await store.format()).toEqual(FORMATS.postgres)
    await store.close()
    const newer = MIGRATIONS.length + 1
    const set = (usableFrom: number) =>
      databases.server.sql(
        `UPDATE spout.schema_version SET version = ${newer}, usable_from = ${usableFrom}`,
        database.database,
      )
    await set(newer)
    expect(await refusal(database)).toContain(
      `it has schema version ${newer}, and this program knows up to ${MIGRATIONS.length}`,
    )
    await set(MIGRATIONS.length)
    expect(await refusal(database)).toBe('opened')
    expect(await databases.server.sql('SELECT version FROM spout.schema_version', database.database)).toBe(
      String(newer),
    )
  })

  test('another encoding', async () => {
    await databases.server.createDatabase('latin', "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    expect(await refusal(settingsOf(databases.server, 'latin'))).toContain("the database's encoding is LATIN1")
    expect(await contents('latin')).toBe('')
  })

  test('no right to create the schema, or no such database', async () => {
    const database = await databases.create()
    expect(await refusal({ ...database, user: 'spout' })).toContain('permission denied for database')
    expect(await contents(database.database)).toBe('')
    expect(await refusal({ ...database, database: 'absent' })).toContain('database "absent" does not exist')
  })

  test('a server that is too old', async () => {
    const row = { version: '12.22', number: 120_022, encoding: 'UTF8', flushes: 'on', standby: false }
    const session = { query: async () => ({ rows: [row], command: 'SELECT' }) } as unknown as Session
    await expect(checkServer(session)).rejects.toThrow('it is PostgreSQL 12.22: 13 or newer is needed')
  })

  test('a server that does not flush', async () => {
    const server = await PostgresServer.start({ settings: { fsync: 'off' } })
    try {
      expect(await refusal(settingsOf(server, 'postgres'))).toContain('its setting fsync is off')
      expect(await server.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'spout'")).toBe('0')
    } finally {
      await server.dispose()
    }
  })
})

test('processes that start at once make one schema', async () => {
  const database = await databases.create()
  const stores = await Promise.all(Array.from({ length: 5 }, () => PostgresStore.open({ database })))
  await Promise.all(stores.map((store, n) => store.commit([put(`o${n}`)])))
  expect((await stores[0]!.list('node')).items).toHaveLength(5)
  await Promise.all(stores.map((store) => store.close()))
})

describe('over TCP', () => {
  const over = async (changed: Partial<PostgresSettings> = {}): Promise<PostgresSettings> => {
    const { database } = await databases.create()
    await databases.server.sql(`GRANT CREATE ON DATABASE ${database} TO spout`)
    return {
      ...{ servers: [{ host: '127.0.0.1', port }], database, user: 'spout' },
      password: async () => new Secret(PASSWORD),
      tls: { ca: authority.certificate },
      ...changed,
    }
  }

  test('with a password and TLS', async () => {
    const store = await PostgresStore.open({ database: await over() })
    await store.commit([put('a')])
    expect(
      await databases.server.sql(
        "SELECT count(*), bool_and(s.ssl) FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE usename = 'spout'",
      ),
    ).toBe('3|t')
    await store.close()
  })

  test('a certificate of another authority, or a wrong password, is refused, and no message has the password', async () => {
    const other = issueCertificate({ isAuthority: true })
    expect(await refusal(await over({ tls: { ca: other.certificate } }))).toMatch(
      /127\.0\.0\.1:\d+: .*(certificate|signature)/,
    )
    const wrong = await refusal(await over({ password: async () => new Secret('not the password') }))
    expect(wrong).toContain('password authentication failed')
    expect(wrong).not.toContain('not the password')
    expect(databases.server.log()).not.toContain(PASSWORD)
  })
})

test('of several servers the one that takes writes is used, also after it has changed', {
  timeout: 120_000,
}, async () => {
  const primary = await PostgresServer.start({ settings: { wal_level: 'replica' } })
  const standby = await PostgresServer.start({ standbyOf: primary })
  try {
    const servers = [standby, primary].map(({ host, port: at }) => ({ host, port: at }))
    await primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await primary.sql('SELECT pg_reload_conf()')
    const database = { ...settingsOf(primary, 'postgres'), servers }
    const states = async () => (await serverStates(database, 'test')).map(({ state }) => state)
    expect(await states()).toEqual(['standby', 'writes'])
    const store = await PostgresStore.open({ database })
    await store.commit([put('before')])
    await primary.kill()
    expect(await states()).toEqual(['standby', 'unusable'])
    await standby.sql("ALTER SYSTEM SET synchronous_standby_names = ''")
    await standby.sql('SELECT pg_promote()')
    await expect.poll(() => store.health().writable, { timeout: 30_000 }).toBe(true)
    expect(await states()).toEqual(['writes', 'unusable'])
    await store.commit([put('after')])
    expect((await store.list('node')).items.map(({ id }) => id)).toEqual(['after', 'before'])
    await store.close()
  } finally {
    await standby.dispose()
    await primary.dispose()
  }
})
