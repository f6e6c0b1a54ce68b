import { LONGEST_BUILD_MS } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { codeOf, nextChange, put, remove } from '../conformance/subject.ts'
import { describeStore } from '../conformance.ts'
import type { Revision, Store } from '../store.ts'
import type { KubernetesStore, KubernetesStoreOptions } from './kubernetes-store.ts'
import { LABELS, STORE_RECORDS } from './record.ts'
import { NAMESPACE, StoreCluster } from './testing/store-cluster.ts'

let bed: StoreCluster
beforeAll(async () => {
  bed = await StoreCluster.start()
}, LONGEST_BUILD_MS)
afterAll(() => bed?.[Symbol.asyncDispose]())

describeStore('kubernetes', async (settings) => {
  const name = bed.newName()
  // Few places, so that the log goes round many times.
  const open = () => bed.open({ ...settings, name, slots: 16 })
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

const watching = (store: Store, from: Revision) =>
  store.watch({ from, signal: new AbortController().signal })[Symbol.asyncIterator]()

const records = async (name: string, role: string) => {
  const selector = encodeURIComponent(`${LABELS.store}=${name},${LABELS.role}=${role}`)
  const path = `/apis/${STORE_RECORDS.apiVersion}/namespaces/${NAMESPACE}/storerecords?labelSelector=${selector}`
  return (await bed.cluster.api.list<{ metadata: { name: string }; spec: { number: number } }>(path)).items
}

describe('several processes on one store', () => {
  const opened: KubernetesStore[] = []
  const undo = async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()))
  }
  const pair = async (options: Partial<KubernetesStoreOptions> = {}) => {
    const name = bed.newName()
    const both = [await bed.open({ name, ...options }), await bed.open({ name, ...options })] as const
    opened.push(...both)
    return [...both, name] as const
  }

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
    const read = async (store: Store) => {
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
      // A commit is not refused for what this process has not heard of.
      expect(await codeOf(b.commit([put('a', n, { ifRevision: revision })]))).toBe('accepted')
    }
    await undo()
  })

  test('a lost lease refuses in whichever process', async () => {
    let nowMs = 0
    const clock = { now: () => new Date(), monotonicMs: () => nowMs, setTimer: () => ({ clear: () => {} }) }
    const [a, b] = await pair({ clock })
    const claim = { name: 'leader', ttlMs: 3000 }
    const first = await a.leases.claim({ ...claim, holder: 'a' })
    expect(await b.leases.claim({ ...claim, holder: 'b' })).toEqual(first)
    const commits = Array.from({ length: 200 }, (_, n) => codeOf(a.commit([put(`o${n}`)], { lease: first })))
    await Promise.race(commits)
    // A renewal that the other has not heard of counts all the same.
    nowMs = 2999
    expect(await a.leases.claim({ ...claim, holder: 'a' })).toEqual(first)
    nowMs = 3000
    expect(await b.leases.claim({ ...claim, holder: 'b' })).toEqual(first)
    // It may hear of the renewal only now.
    const second = await vi.waitFor(async () => {
      nowMs += 3000
      const lease = await b.leases.claim({ ...claim, holder: 'b' })
      expect(lease.holder).toBe('b')
      return lease
    })
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

  test('the log goes round in its places: snapshots keep everything, and nothing grows', async () => {
    const [a, b, name] = await pair({ slots: 8 })
    for (let n = 0; n < 100; n++) await (n % 3 === 0 ? b : a).commit([put(`o${n % 30}`, n), put(`p${n}`, n)])
    await Promise.all([a.revision(), b.revision()])
    const all = await a.list('node')
    expect(all.items).toHaveLength(130)
    expect(await b.list('node')).toEqual(all)
    await undo()
    expect(await records(name, 'slot')).toHaveLength(8)
    const root = (await records(name, 'root'))[0]
    const parts = await records(name, 'part')
    expect(new Set(parts.map(({ spec }) => spec.number))).toEqual(new Set([root?.spec.number]))
    const again = await bed.open({ name })
    expect(await again.list('node')).toEqual(all)
    await again.close()
  })

  test('a commit that is longer than a record is whole, and gone with the next snapshot', async () => {
    const [a, b, name] = await pair({ slots: 8 })
    const from = await b.revision()
    const values = [noise(1_000_000), noise(100_000)]
    await a.commit(values.map((value, n) => put(`long${n}`, value)))
    await b.revision()
    expect((await b.list('node')).items.map(({ value }) => value)).toEqual(values)
    const seen = watching(b, from)
    expect([await nextChange(seen), await nextChange(seen)]).toEqual(['+long0', '+long1'])
    for (let n = 0; n < 5; n++) await a.commit([remove('long0'), put('long0', values[0])])
    await a.commit([remove('long0'), remove('long1'), put('last')])
    for (let n = 0; n < 20; n++) await a.commit([put('last', n)])
    await undo()
    const parts = await records(name, 'part')
    expect(parts.length).toBeLessThanOrEqual(8)
    const again = await bed.open({ name })
    expect((await again.list('node')).items.map(({ value }) => value)).toEqual([19])
    await again.close()
  })
})

/** Text that does not compress. */
function noise(length: number): string {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, Math.min(at + 65_536, length)))
  return bytes.toString('base64')
}
