import { FakeClock } from '@spout/runtime/fake-clock'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Change, Revision, Store } from '../store.ts'
import { codeOf, nextChange, put, remove } from './subject.ts'

/** An empty store that two processes have open. */
export type Pair = readonly [Store, Store]

/** @param clock the time of leases, of both */
export type OpenPair = (options: { readonly clock: FakeClock }) => Promise<Pair>

const TTL_MS = 3000
const PATIENCE = { timeout: 10_000 }

export const watching = (store: Store, from: Revision): AsyncIterator<Change> =>
  store.watch({ from, signal: new AbortController().signal })[Symbol.asyncIterator]()

/** What a store promises that several processes may use, beyond what `describeStore` tests with one. */
export function describeSeveralProcesses(name: string, open: OpenPair): void {
  describe(`several processes: ${name}`, () => {
    let opened: Pair | null = null
    const clock = new FakeClock()
    const pair = async (): Promise<Pair> => {
      opened = await open({ clock })
      return opened
    }
    afterEach(async () => {
      await Promise.all((opened ?? []).map((store) => store.close()))
      opened = null
    })

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
    })

    test('a lost lease refuses in whichever process', async () => {
      const [a, b] = await pair()
      const claim = (store: Store, holder: string) => store.leases.claim({ name: 'leader', ttlMs: TTL_MS, holder })
      const first = await claim(a, 'a')
      // Both count in the same store, so anybody may compare.
      expect(a.leases.keptIn).toMatch(/^[0-9a-f]{8}$/)
      expect(b.leases.keptIn).toBe(a.leases.keptIn)
      expect(await claim(b, 'b')).toEqual(first)
      const commits = Array.from({ length: 200 }, (_, n) => codeOf(a.commit([put(`o${n}`)], { lease: first })))
      await Promise.race(commits)
      clock.stall(TTL_MS - 1)
      expect(await claim(a, 'a')).toEqual(first)
      clock.stall(1)
      // Also where this process has not heard of the renewal.
      expect(await claim(b, 'b')).toEqual(first)
      const second = await vi.waitFor(async () => {
        clock.stall(TTL_MS)
        const lease = await claim(b, 'b')
        expect(lease.holder).toBe('b')
        return lease
      }, PATIENCE)
      expect(second.token).toBeGreaterThan(first.token)
      // What the new holder reads is all that the earlier one wrote.
      const { items } = await b.list('node')
      const codes = await Promise.all(commits)
      expect(items).toHaveLength(codes.filter((code) => code === 'accepted').length)
      expect(await codeOf(a.commit([put('late')], { lease: first }))).toBe('LeaseLost')
      expect(await codeOf(b.commit([put('new')], { lease: second }))).toBe('accepted')
    })

    test('compaction by one process ends the watches behind it in the other', async () => {
      const [a, b] = await pair()
      const from = await b.revision()
      await a.commit([put('a'), put('b')])
      const { revision } = await a.commit([remove('a')])
      await a.compact(revision)
      await vi.waitFor(async () => expect(await codeOf(watching(b, from).next())).toBe('Gone'), PATIENCE)
    })
  })
}
