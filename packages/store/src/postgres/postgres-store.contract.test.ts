import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { codeOf, nextChange, put, remove } from '../conformance/subject.ts'
import { describeStore } from '../conformance.ts'
import type { Revision } from '../store.ts'
import { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
import { PostgresDatabases } from './testing/postgres-databases.ts'

let databases: PostgresDatabases
beforeAll(async () => {
  databases = await PostgresDatabases.start()
})
afterAll(() => databases.server.dispose())

describeStore('postgres', async ({ clock, bookmarkIntervalMs }) => {
  const database = await databases.emptied()
  const open = () => PostgresStore.open({ database, bookmarkIntervalMs, leaseTimeMs: () => clock.monotonicMs() })
  let store = await open()
  return {
    store,
    keepsLeases: true,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    dispose: () => store.close(),
  }
})

describe('several processes on one database', () => {
  const opened: PostgresStore[] = []
  const undo = async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
  }
  const pair = async (options: Partial<PostgresStoreOptions> = {}) => {
    const database = await databases.create()
    const both = [
      await PostgresStore.open({ database, ...options }),
      await PostgresStore.open({ database, ...options }),
    ]
    opened.push(...both)
    return both as [PostgresStore, PostgresStore]
  }
  const watching = (store: PostgresStore, from: Revision) =>
    store.watch({ from, signal: new AbortController().signal })[Symbol.asyncIterator]()

  test('a watch sees what another process commits, in order and once', async () => {
    const [a, b] = await pair()
    const from = await a.revision()
    const seen = watching(a, from)
    const next = nextChange(seen)
    await b.commit([put('by-b')])
    expect(await next).toBe('+by-b')
    const count = 200
    await Promise.all(
      Array.from({ length: count }, (_, n) => (n % 2 === 0 ? a : b).commit([put(`o${n}`, n), put(`p${n}`, n)])),
    )
    const read = async (store: PostgresStore) => {
      const changes: string[] = []
      const all = watching(store, from)
      while (changes.length < 2 * count + 1) changes.push(await nextChange(all))
      return changes
    }
    const [inA, inB] = await Promise.all([read(a), read(b)])
    expect(inA).toEqual(inB)
    expect(new Set(inA).size).toBe(2 * count + 1)
    await undo()
  })

  test('of commits of many processes with one condition, one wins', async () => {
    const [a, b] = await pair()
    const { revision } = await a.commit([put('a', 0)])
    const codes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        codeOf((n % 2 === 0 ? a : b).commit([put('a', n, { ifRevision: revision })])),
      ),
    )
    expect(codes.filter((code) => code === 'accepted')).toHaveLength(1)
    expect(codes.filter((code) => code === 'RevisionConflict')).toHaveLength(19)
    await undo()
  })

  test('the newest revision is that of any process, and a revision of another one can be watched from', async () => {
    const [a, b] = await pair()
    for (let n = 0; n < 20; n++) {
      const { revision } = await a.commit([put('a', n)])
      expect(await b.revision()).toBe(revision)
      const seen = watching(b, revision)
      expect((await seen.next()).value).toEqual({ type: 'bookmark', revision })
    }
    await undo()
  })

  test('a lost lease refuses in whichever process', async () => {
    let nowMs = 0
    const [a, b] = await pair({ leaseTimeMs: () => nowMs })
    const claim = { name: 'leader', ttlMs: 3000 }
    const first = await a.leases.claim({ ...claim, holder: 'a' })
    // Both count in the same store, so anybody may compare.
    expect(a.leases.keptIn).toMatch(/^[0-9a-f]{8}$/)
    expect(b.leases.keptIn).toBe(a.leases.keptIn)
    expect(await b.leases.claim({ ...claim, holder: 'b' })).toEqual(first)
    const commits = Array.from({ length: 200 }, (_, n) => codeOf(a.commit([put(`o${n}`)], { lease: first })))
    await Promise.race(commits)
    nowMs = 3000
    const second = await b.leases.claim({ ...claim, holder: 'b' })
    expect(second.token).toBeGreaterThan(first.token)
    // What the new holder reads is all that the earlier one wrote.
    const { items } = await b.list('node')
    const codes = await Promise.all(commits)
    expect(items).toHaveLength(codes.filter((code) => code === 'accepted').length)
    expect(await codeOf(a.commit([put('late')], { lease: first }))).toBe('LeaseLost')
    expect(await codeOf(b.commit([put('new')], { lease: second }))).toBe('accepted')
    await undo()
  })

  test('compaction by one process ends the watches behind it in the other', async () => {
    const [a, b] = await pair()
    const from = await b.revision()
    await a.commit([put('a'), put('b')])
    const { revision } = await a.commit([remove('a')])
    await a.compact(revision)
    await vi.waitFor(async () => expect(await codeOf(watching(b, from).next())).toBe('Gone'), 10_000)
    await undo()
  })

  test('the log is kept within its retention; a watch from far back reads it from the server', async () => {
    const [a, b] = await pair({ retention: { changes: 6000, bytes: 256 * 1024 * 1024 } })
    const from = await a.revision()
    let middle = from
    for (let n = 0; n < 100; n++) {
      const { revision } = await a.commit(Array.from({ length: 70 }, (_, m) => put(`o${m}`, n)))
      if (n === 30) middle = revision
    }
    expect(await codeOf(watching(b, from).next())).toBe('Gone')
    const far = watching(b, middle)
    for (let n = 31; n < 100; n++) for (let m = 0; m < 70; m++) expect(await nextChange(far)).toBe(`+o${m}`)
    await undo()
  })
})
