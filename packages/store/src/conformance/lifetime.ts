import { describe, expect, test } from 'vitest'
import type { Revision } from '../store.ts'
import { codeOf, drain, isBookmark, next, nextChange, put, remove, type Subject } from './subject.ts'

/** What compaction, closing and reopening leave. */
export function describeLifetime(subject: () => Subject): void {
  describe('compact', () => {
    test('forgets the changes up to the revision, and no object', async () => {
      const { store, watch, changesSince } = subject()
      const start = await store.revision()
      const { revision: first } = await store.commit([put('a')])
      const { revision: second } = await store.commit([put('b')])
      await store.commit([put('c')])
      await store.compact(second)
      expect(await codeOf(next(watch(start)))).toBe('Gone')
      expect(await codeOf(next(watch(first)))).toBe('Gone')
      expect(await changesSince(second)).toEqual(['+c'])
      expect((await store.list('node')).items).toHaveLength(3)
    })

    test('up to the newest revision leaves nothing, and the next commit goes on from there', async () => {
      const { store, changesSince } = subject()
      const { revision: last } = await store.commit([put('a')])
      await store.compact(last)
      expect(await store.revision()).toBe(last)
      expect(await changesSince(last)).toEqual([])
      await store.commit([put('b')])
      expect(await changesSince(last)).toEqual(['+b'])
    })

    test('again, or up to a compacted revision, does nothing', async () => {
      const { store, changesSince } = subject()
      const start = await store.revision()
      const { revision } = await store.commit([put('a')])
      await store.compact(revision)
      await store.compact(revision)
      await store.compact(start)
      expect(await changesSince(revision)).toEqual([])
    })

    test('up to a revision of another store is refused', async () => {
      const { store } = subject()
      expect(await codeOf(store.compact('00000000-1' as Revision))).toBe('Gone')
    })

    test('ends a watch that is behind it with Gone, and not one that kept up', async () => {
      const { store, watch } = subject()
      const from = await store.revision()
      const keptUp = watch(from)
      const behind = watch(from)
      expect(isBookmark(await next(behind))).toBe(true)
      const { revision } = await store.commit([put('a')])
      expect(await nextChange(keptUp)).toBe('+a')
      await store.compact(revision)
      expect(await codeOf(next(behind))).toBe('Gone')
      await store.commit([put('b')])
      expect(await nextChange(keptUp)).toBe('+b')
    })
  })

  describe('health', () => {
    test('is writable from the start, and a refused commit is no fault of the store', async () => {
      const { store } = subject()
      expect(store.health()).toEqual({ writable: true, reason: null })
      expect(await codeOf(store.commit([remove('a')]))).toBe('NotFound')
      expect(store.health()).toEqual({ writable: true, reason: null })
    })

    test('says why commits are refused once it is closed', async () => {
      const { store } = subject()
      await store.close()
      expect(store.health()).toEqual({ writable: false, reason: 'the store is closed' })
    })

    test('is writable again after reopening', async ({ skip }) => {
      const again = await subject().reopen()
      if (again === null) return skip('nothing outlives it')
      expect(again.store.health()).toEqual({ writable: true, reason: null })
    })
  })

  describe('close', () => {
    test('is idempotent, ends watches and refuses the rest', async () => {
      const { store, watch } = subject()
      const watching = watch(await store.revision())
      await next(watching)
      const ended = drain(watching)
      await Promise.all([store.close(), store.close()])
      await store.close()
      await ended
      for (const attempt of [store.get('node', 'a'), store.list('node'), store.commit([put('a')]), store.revision()])
        expect(await codeOf(attempt)).toBe('Unavailable')
    })

    test('waits for commits under way', async () => {
      const { store } = subject()
      const commits = Promise.all([store.commit([put('a')]), store.commit([put('b')])])
      await store.close()
      expect(await commits).toHaveLength(2)
    })
  })

  describe('reopen', () => {
    test('everything is there: objects, revisions, the log and its floor', async ({ skip }) => {
      const { store, reopen } = subject()
      const start = await store.revision()
      const { revision: floor } = await store.commit([put('a', 1, { scope: 'p1' }), put('b', 2)])
      const { revision: last } = await store.commit([remove('b'), put('c', 3)])
      await store.compact(floor)
      const before = await store.list('node')
      const again = await reopen()
      if (again === null) return skip('nothing outlives it')
      expect(await again.store.list('node')).toEqual(before)
      expect(await again.store.revision()).toBe(last)
      expect(await codeOf(next(again.watch(start)))).toBe('Gone')
      expect(await again.changesSince(floor)).toEqual(['-b', '+c'])
      expect(await codeOf(again.store.commit([put('a', 2, { ifRevision: floor })]))).toBe('accepted')
      expect(await again.changesSince(last)).toEqual(['+a'])
    })

    test('an emptied log still knows its position', async ({ skip }) => {
      const { store, reopen } = subject()
      const { revision: last } = await store.commit([put('a')])
      await store.compact(last)
      const again = await reopen()
      if (again === null) return skip('nothing outlives it')
      expect(await again.store.revision()).toBe(last)
      const { revision: following } = await again.store.commit([put('b')])
      expect(following).not.toBe(last)
      expect(await again.changesSince(last)).toEqual(['+b'])
    })
  })
}
