import { describe, expect, test } from 'vitest'
import { put, type Subject } from './subject.ts'

/** What `get` and `list` promise. */
export function describeReads(subject: () => Subject): void {
  describe('get', () => {
    test('is null for what does not exist', async () => {
      const { store } = subject()
      expect(await store.get('node', 'a')).toBeNull()
    })

    test('returns what was committed, with the revision of the commit', async () => {
      const { store } = subject()
      const value = { text: 'ß\u0000\u{1f600}"\\', list: [1, -2.5e-9, true, null], nested: { empty: {} } }
      const { revision } = await store.commit([put('a', value, { scope: 'p1' })])
      expect(await store.get('node', 'a')).toEqual({ kind: 'node', id: 'a', scope: 'p1', revision, value })
    })

    test('kinds are name spaces of their own', async () => {
      const { store, seen } = subject()
      await store.commit([put('a', 1), put('a', 2, { kind: 'project' })])
      expect((await seen('a')).value).toBe(1)
      expect((await store.get('project', 'a'))?.value).toBe(2)
    })

    test('the store keeps its own copy of a value', async () => {
      const { store, seen } = subject()
      const value = { members: ['m1'] }
      await store.commit([put('a', value)])
      value.members.push('m2')
      const read = (await seen('a')).value as { members: string[] }
      read.members.push('m3')
      expect((await seen('a')).value).toEqual({ members: ['m1'] })
    })
  })

  describe('list', () => {
    test('orders by id, and filters by kind and scope', async () => {
      const { store } = subject()
      await store.commit([
        put('b', 1, { scope: 'p1' }),
        put('c', 2, { scope: 'p2' }),
        put('a', 3, { scope: 'p1' }),
        put('d', 4),
        put('a', 5, { kind: 'project', scope: 'p1' }),
      ])
      const ids = async (options?: { scope?: string | null }) =>
        (await store.list('node', options)).items.map(({ id }) => id)
      expect(await ids()).toEqual(['a', 'b', 'c', 'd'])
      expect(await ids({ scope: 'p1' })).toEqual(['a', 'b'])
      expect(await ids({ scope: 'p2' })).toEqual(['c'])
      expect(await ids({ scope: null })).toEqual(['d'])
      expect(await ids({ scope: 'p3' })).toEqual([])
    })

    test('follows an object into another scope', async () => {
      const { store, seen } = subject()
      await store.commit([put('a', 1, { scope: 'p1' })])
      await store.commit([put('a', 2, { scope: 'p2' })])
      expect((await store.list('node', { scope: 'p1' })).items).toEqual([])
      expect((await store.list('node', { scope: 'p2' })).items).toEqual([await seen('a')])
    })

    test('returns the same as get, and the newest revision', async () => {
      const { store, seen } = subject()
      await store.commit([put('a')])
      const { revision } = await store.commit([put('b')])
      const list = await store.list('node')
      expect(list).toEqual({ items: [await seen('a'), await seen('b')], revision })
      expect(await store.revision()).toBe(revision)
    })
  })
}
