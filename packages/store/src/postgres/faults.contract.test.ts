import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync, writeFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { byLength, must, recordFault } from '@spout/testkit'
import { PostgresServer } from '@spout/testkit/postgres-server'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { expectNothingLost, logOf, writable } from '../conformance/kills.ts'
import { codeOf, put } from '../conformance/subject.ts'
import { PostgresStore } from './postgres-store.ts'
import { CommitProxy } from './testing/commit-proxy.ts'
import { PostgresDatabases, settingsOf } from './testing/postgres-databases.ts'

const KILLS = byLength(8, 60)
const LONGEST_LIFE_MS = 300
const PATIENCE = { timeout: 30_000, interval: 10 }

let databases: PostgresDatabases
const undo: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  databases = await PostgresDatabases.start()
})
afterAll(async () => {
  for (const step of undo.reverse()) await step()
  await databases.server.dispose()
})

const opened = async (database: Awaited<ReturnType<PostgresDatabases['create']>>): Promise<PostgresStore> => {
  const store = await PostgresStore.open({ database, probeIntervalMs: 20 })
  undo.push(() => store.close())
  return store
}

test(`kill -9 of the server, ${KILLS} times in the middle of commits: what was acknowledged is stored, once; what was refused is not`, async () => {
  const database = await databases.create()
  const store = await opened(database)
  await expectNothingLost(store, {
    ...{ count: KILLS, commits: 0, again: () => opened(database), resume: () => databases.server.resume() },
    kill: async () => {
      await sleep(Math.random() * LONGEST_LIFE_MS)
      await databases.server.kill()
    },
  })
  recordFault({
    fault: 'kill -9 of PostgreSQL in the middle of commits',
    outcome: 'the control plane connects again; commits whose answer was lost are looked up',
    figure: `${KILLS} times, 0 acknowledged commits lost, 0 refused ones stored`,
  })
}, 300_000)

test('a commit whose answer was lost is acknowledged, and stored once', async () => {
  const database = await databases.create()
  const proxy = await CommitProxy.start(databases.server.host)
  undo.push(() => proxy.close())
  const store = await opened({ ...database, servers: [{ host: proxy.host, port: proxy.port }] })
  const from = await store.revision()
  await store.commit([put('a', 0)])
  for (let n = 1; n <= 5; n++) {
    const lost = proxy.lose('answer')
    expect(await codeOf(store.commit([put('a', n)]))).toBe('accepted')
    await lost
  }
  expect(await logOf(store, from)).toEqual(new Map([['a', [0, 1, 2, 3, 4, 5]]]))
})

test('a commit behind one whose answer was lost does not wait for a server that is away', async () => {
  const database = await databases.create()
  const proxy = await CommitProxy.start(databases.server.host)
  undo.push(() => proxy.close())
  const store = await opened({ ...database, servers: [{ host: proxy.host, port: proxy.port }] })
  const from = await store.revision()
  const lost = proxy.lose('answer')
  const first = codeOf(store.commit([put('first')]))
  await lost
  // The store has not heard of the loss yet, so it takes this one.
  const behind = codeOf(store.commit([put('behind')]))
  proxy.cut()
  expect(await behind).toBe('StoreUnavailable')
  proxy.mend()
  expect(await first).toBe('accepted')
  expect([...(await logOf(store, from)).keys()]).toEqual(['first'])
})

test('a COMMIT that was lost itself is refused and not stored, and its open transaction holds nobody up for long', async () => {
  const database = await databases.create()
  const proxy = await CommitProxy.start(databases.server.host)
  undo.push(() => proxy.close())
  const store = await opened({ ...database, servers: [{ host: proxy.host, port: proxy.port }] })
  const other = await opened(database)
  const from = await store.revision()
  await store.commit([put('a', 0)])
  const lost = proxy.lose('question')
  const commit = codeOf(store.commit([put('a', 1)]))
  await lost
  // The server still has the transaction, which locks out all writers.
  expect(await codeOf(other.commit([put('b', 1)]))).toBe('accepted')
  expect(await commit).toBe('StoreUnavailable')
  await writable(store)
  expect(await codeOf(store.commit([put('a', 2)]))).toBe('accepted')
  expect(await logOf(store, from)).toEqual(new Map(Object.entries({ a: [0, 2], b: [1] })))
})

test('while the server is away commits are refused at once, watches go on afterwards, and closing does not wait for it', async () => {
  const database = await databases.create()
  const proxy = await CommitProxy.start(databases.server.host)
  undo.push(() => proxy.close())
  const store = await opened({ ...database, servers: [{ host: proxy.host, port: proxy.port }] })
  const other = await opened(database)
  const from = await store.revision()
  const watching = store.watch({ from, signal: new AbortController().signal })[Symbol.asyncIterator]()
  await watching.next()
  proxy.cut()
  await vi.waitFor(() => expect(store.health().writable).toBe(false), PATIENCE)
  expect(store.health().reason).toMatch(/connection to .* lost|ECONNRE|closed/)
  expect(await codeOf(store.commit([put('a')]))).toBe('StoreUnavailable')
  expect(await codeOf(store.get('node', 'a'))).toBe('Unavailable')
  await other.commit([put('meanwhile')])
  proxy.mend()
  expect((await watching.next()).value).toMatchObject({ type: 'put', object: { id: 'meanwhile' } })
  await writable(store)

  const lost = proxy.lose('answer').then(() => proxy.cut())
  const unknown = store.commit([put('unknown')])
  const told = expect(unknown).rejects.toThrow(/^It is not known whether this is stored: /)
  await lost
  await store.close()
  await told
})

test.each(['reading', 'leases'])('while the connection for %s alone is away the store is not ready', async (role) => {
  const database = await databases.create()
  const store = await opened(database)
  const { server } = databases
  await server.sql(`ALTER DATABASE ${database.database} ALLOW_CONNECTIONS false`)
  await server.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'spout ${role}' AND datname = '${database.database}'`,
  )
  await vi.waitFor(() => expect(store.health().reason).toMatch(/not currently accepting connections/), PATIENCE)
  expect(store.health().writable).toBe(false)
  await server.sql(`ALTER DATABASE ${database.database} ALLOW_CONNECTIONS true`)
  await writable(store)
  await store.commit([put('after')])
  expect((await store.list('node')).items).toHaveLength(1)
})

test('a database that lacks acknowledged changes is refused, and nothing is written to it', async () => {
  const database = await databases.create()
  const store = await opened(database)
  await store.commit([put('before')])
  const { server } = databases
  await server.stop()
  const copy = async (from: string, to: string) =>
    promisify(execFile)('cp', ['-a', join(server.host, from), join(server.host, to)])
  await copy('data', 'older')
  await server.resume()
  await writable(store)
  await store.commit([put('acknowledged')])
  await server.stop()
  await rename(join(server.host, 'data'), join(server.host, 'newer'))
  await copy('older', 'data')
  await server.resume()
  await vi.waitFor(() => expect(store.health().reason).toMatch(/lacks changes that were acknowledged/), PATIENCE)
  expect(await codeOf(store.commit([put('late')]))).toBe('StoreUnavailable')
  const anew = await opened(database)
  expect((await anew.list('node')).items.map(({ id }) => id)).toEqual(['before'])
})

test.skipIf(process.getuid?.() !== 0)(
  'a full disk of the server: what does not fit is refused, nothing acknowledged is lost, and it goes on with room',
  {
    timeout: 180_000,
  },
  async () => {
    const mount = mkdtempSync(join(tmpdir(), 'spout-full-'))
    await must(['mount', '-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', mount])
    try {
      const directory = join(mount, 'pg')
      mkdirSync(directory)
      const server = await PostgresServer.start({ directory, settings: { min_wal_size: '32MB', max_wal_size: '32MB' } })
      try {
        const store = await PostgresStore.open({ database: settingsOf(server, 'postgres'), probeIntervalMs: 50 })
        const { bavail, bsize } = statfsSync(mount)
        const ballast = join(directory, 'ballast')
        writeFileSync(ballast, new Uint8Array(bavail * bsize - 6_000_000))
        const fill = async (taken: string[]): Promise<string> => {
          for (;;) {
            const id = `o${taken.length}`
            const code = await codeOf(store.commit([put(id, randomBytes(40_000).toString('base64'))]))
            if (code !== 'accepted') return code
            taken.push(id)
          }
        }
        const taken: string[] = []
        expect(await fill(taken)).toBe('StoreUnavailable')
        await vi.waitFor(() => expect(store.health().reason).not.toBeNull(), PATIENCE)
        await rm(ballast)
        // Without room for its log it may have ended itself.
        if (server.hasEnded) await server.resume()
        await vi.waitFor(async () => expect(await codeOf(store.commit([put('later')]))).toBe('accepted'), PATIENCE)
        const ids = (await store.list('node')).items.map(({ id }) => id)
        expect(ids.toSorted()).toEqual([...taken, 'later'].toSorted())
        await store.close()
        recordFault({
          fault: 'a full disk under PostgreSQL',
          outcome: 'what does not fit is refused; it goes on when there is room',
          figure: `0 of ${taken.length} acknowledged commits lost`,
        })
      } finally {
        await server.dispose()
      }
    } finally {
      await must(['umount', mount])
      rmdirSync(mount)
    }
  },
)
