import { mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { recordFault } from '@spout/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codeOf, next, put } from '../conformance/subject.ts'
import type { Change, Revision, Store } from '../store.ts'
import { SqliteStore } from './sqlite-store.ts'
import { STATEMENTS } from './statements.ts'
import { StoreChild } from './testing/store-child.ts'

let directory: string
let path: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spout-sqlite-'))
  path = join(directory, 'spout.db')
})
afterEach(() => rm(directory, { recursive: true }))

const sqlite = <T>(work: (database: DatabaseSync) => T): T => {
  const database = new DatabaseSync(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}
const watch = (store: Store, from: Revision): AsyncIterator<Change> =>
  store.watch({ from, signal: new AbortController().signal })[Symbol.asyncIterator]()

describe('the lock', () => {
  test('the process that holds it is named, and the lock ends with that process', async () => {
    const holder = new StoreChild()
    try {
      await holder.call({ op: 'open', options: { path } })
      await expect(SqliteStore.open({ path })).rejects.toThrow(
        `The store does not accept writes: ${path} is in use by process ${holder.pid}: end that one first (kill ${holder.pid}; `,
      )
    } finally {
      await holder.kill()
    }
    await (await SqliteStore.open({ path })).close()
  })

  test('a stopped process keeps it: no other can write, and it continues later', async () => {
    const holder = new StoreChild()
    const tries = 3
    try {
      await holder.call({ op: 'open', options: { path } })
      await holder.call({ op: 'put', id: 'before', bytes: 10 })
      process.kill(holder.pid, 'SIGSTOP')
      try {
        for (let attempt = 0; attempt < tries; attempt++)
          await expect(SqliteStore.open({ path })).rejects.toThrow(`is in use by process ${holder.pid}`)
      } finally {
        process.kill(holder.pid, 'SIGCONT')
      }
      await holder.call({ op: 'put', id: 'after', bytes: 10 })
    } finally {
      await holder.kill()
    }
    const store = await SqliteStore.open({ path })
    const ids = (await store.list('node')).items.map(({ id }) => id)
    await store.close()
    expect(ids).toEqual(['after', 'before'])
    recordFault({
      fault: 'store: a second writer while the first is stopped',
      outcome: 'refused, naming the process; the first goes on',
      figure: `0 of ${tries} admitted, 0 writes lost`,
    })
  })

  test('this process cannot open it twice either, and trying does not lose the lock', async () => {
    const store = await SqliteStore.open({ path })
    const intruder = new StoreChild()
    try {
      await expect(SqliteStore.open({ path })).rejects.toThrow(`in use by process ${process.pid}`)
      await expect(intruder.call({ op: 'open', options: { path } })).rejects.toThrow(`in use by process ${process.pid}`)
    } finally {
      await intruder.kill()
      await store.close()
    }
  })
})

describe('the file', () => {
  test('is readable by its owner alone, and so is its log', async () => {
    const store = await SqliteStore.open({ path })
    await store.commit([put('a')])
    for (const file of [path, `${path}-wal`]) expect((await stat(file)).mode & 0o777).toBe(0o600)
    await store.close()
  })

  test('that is not a database is refused and left unchanged', async () => {
    await writeFile(path, 'not a database, but long enough to be taken for a header of one'.repeat(10))
    await expect(SqliteStore.open({ path })).rejects.toThrow('file is not a database')
  })

  test('whose pages are damaged is refused', async () => {
    const store = await SqliteStore.open({ path })
    await store.commit(Array.from({ length: 200 }, (_, n) => put(`o${n}`)))
    await store.close()
    const file = await open(path, 'r+')
    for (const page of [4, 5, 6]) await file.write(new Uint8Array(4096).fill(0xff), 0, 4096, page * 4096)
    await file.close()
    await expect(SqliteStore.open({ path })).rejects.toThrow('it is damaged')
  })

  test('of a newer program is refused and left unchanged', async () => {
    await (await SqliteStore.open({ path })).close()
    sqlite((database) => database.exec('UPDATE schema_version SET version = version + 1; PRAGMA user_version = 4'))
    await expect(SqliteStore.open({ path })).rejects.toThrow(/schema version 4.*knows up to 3/)
  })

  test("of a newer program that only added to it is used, and stays that program's", async () => {
    const later = await SqliteStore.open({ path })
    await later.commit([put('by-the-later-one')])
    await later.close()
    // A change that a migration of the next release may make.
    const added = `ALTER TABLE change ADD COLUMN origin TEXT NOT NULL DEFAULT '';
      CREATE TABLE tally (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT;
      UPDATE schema_version SET version = 4`
    sqlite((database) => database.exec(added))
    const earlier = await SqliteStore.open({ path })
    await earlier.commit([put('by-the-earlier-one')])
    expect((await earlier.list('node')).items.map(({ id }) => id)).toEqual(['by-the-earlier-one', 'by-the-later-one'])
    await earlier.close()
    sqlite((database) => {
      expect(database.prepare('SELECT version FROM schema_version').get()).toEqual({ version: 4 })
      expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 2 })
      expect(database.prepare('SELECT count(*) AS count FROM change').get()).toEqual({ count: 2 })
    })
  })

  test('of an earlier program loses the index that nobody asks, and that program can use it again', async () => {
    const store = await SqliteStore.open({ path })
    await store.commit([put('a', 1, { scope: 'p1' }), put('b', 1, { scope: 'p2' })])
    await store.close()
    const indexes = () =>
      sqlite((database) => database.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql > ''").all())
    const asEarlier = 'CREATE INDEX object_by_scope ON object (kind, scope, id); UPDATE schema_version SET version = 2'
    sqlite((database) => database.exec(asEarlier))
    const again = await SqliteStore.open({ path })
    expect((await again.list('node', { scope: 'p2' })).items.map(({ id }) => id)).toEqual(['b'])
    await again.close()
    expect(indexes()).toEqual([])
    // Programs from this version on take the file as it is.
    expect(sqlite((database) => database.prepare('PRAGMA user_version').get())).toEqual({ user_version: 2 })
  })

  test('in a missing folder is refused by name', async () => {
    const missing = join(directory, 'missing', 'spout.db')
    await expect(SqliteStore.open({ path: missing })).rejects.toThrow(`${missing} cannot be used`)
  })
})

describe('growth', () => {
  test('the log keeps to its number of changes', async () => {
    const store = await SqliteStore.open({ path, retention: { changes: 100, bytes: 1e9 } })
    const start = await store.revision()
    const revisions: Revision[] = []
    for (let n = 0; n < 300; n++) revisions.push((await store.commit([put(`o${n}`)])).revision)
    expect(await codeOf(next(watch(store, start)))).toBe('Gone')
    expect(await next(watch(store, revisions.at(-101)!))).toMatchObject({ object: { id: 'o200' } })
    await store.close()
    expect(sqlite((database) => database.prepare('SELECT count(*) AS n FROM change').get()?.n)).toBeLessThan(105)
  })

  test('the log keeps to its bytes, and one value may be larger than that', async () => {
    const store = await SqliteStore.open({ path, retention: { changes: 1e9, bytes: 50_000 } })
    const start = await store.revision()
    for (let n = 0; n < 100; n++) await store.commit([put('a', 'x'.repeat(1000))])
    expect(await codeOf(next(watch(store, start)))).toBe('Gone')
    const { revision } = await store.commit([put('a', 'x'.repeat(100_000))])
    await store.commit([put('b')])
    expect(await next(watch(store, revision))).toMatchObject({ object: { id: 'b' } })
    await store.close()
  })

  test('the WAL is written from its start again', async () => {
    const store = await SqliteStore.open({ path, checkpointPages: 100 })
    for (let n = 0; n < 500; n++) await store.commit([put(`o${n % 10}`, 'x'.repeat(1000))])
    const pageBytes = 4096 + 24
    expect((await stat(`${path}-wal`)).size).toBeLessThan(2 * 100 * pageBytes)
    await store.close()
  })

  test('commits of any size arrive whole from the file', async () => {
    const first = await SqliteStore.open({ path })
    const from = await first.revision()
    await first.commit([put('before')])
    await first.commit(Array.from({ length: 1000 }, (_, n) => put(`o${n}`, n)))
    await first.commit([put('after')])
    await first.close()
    const store = await SqliteStore.open({ path })
    const watching = watch(store, from)
    const ids: string[] = []
    for (let change = await next(watching); change.type === 'put'; change = await next(watching))
      ids.push(change.object.id)
    expect(ids).toEqual(['before', ...Array.from({ length: 1000 }, (_, n) => `o${n}`), 'after'])
    await store.close()
  })

  test.each([
    ['list', 'SEARCH object USING INDEX sqlite_autoindex_object_1 (kind=?)'],
    ['commitAtBytes', 'SEARCH change USING INTEGER PRIMARY KEY (rowid>?)'],
  ] as const)('%s reads only what it returns', async (name, plan) => {
    await (await SqliteStore.open({ path })).close()
    const steps = sqlite((database) => database.prepare(`EXPLAIN QUERY PLAN ${STATEMENTS[name]}`).all())
    expect(steps.map(({ detail }) => detail)).toEqual([plan])
  })
})
