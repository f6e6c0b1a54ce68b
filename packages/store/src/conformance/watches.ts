import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Change, Revision } from '../store.ts'
import {
  codeOf,
  describeChange,
  describeWrite,
  drain,
  isBookmark,
  next,
  nextChange,
  put,
  remove,
  revisionOf,
  type Subject,
  untilBookmark,
} from './subject.ts'

/** What `watch` promises. */
export function describeWatches(subject: () => Subject): void {
  describe('watch', () => {
    test('gives changes after the revision, in order, then says that it has caught up', async () => {
      const { store, watch } = subject()
      const { revision: from } = await store.commit([put('before')])
      await store.commit([put('a', 1, { scope: 'p1' })])
      await store.commit([put('b')])
      const { revision: last } = await store.commit([remove('a')])
      const watching = watch(from)
      const changes = await untilBookmark(watching)
      expect(changes.map(describeChange)).toEqual(['+a', '+b', '-a'])
      expect(changes[2]).toEqual({
        type: 'delete',
        ref: { kind: 'node', id: 'a' },
        scope: 'p1',
        revision: last,
      })
    })

    test('gives every value in between, not only the newest', async () => {
      const { store, watch } = subject()
      const from = await store.revision()
      for (let n = 0; n < 3; n++) await store.commit([put('a', n)])
      const changes = await untilBookmark(watch(from))
      expect(changes.map((change) => change.type === 'put' && change.object.value)).toEqual([0, 1, 2])
    })

    test('a new value that the store takes over is frozen, and is given as it is or as an equal one', async () => {
      const { store, seen, watch } = subject()
      const from = await store.revision()
      const value = { id: 'a', parts: [{ id: 'b' }] }
      await store.commit([put('a', value, { ifRevision: 'absent', over: null })])
      expect([value, value.parts, value.parts[0]].every(Object.isFrozen)).toBe(true)
      const [change] = await untilBookmark(watch(from))
      expect(change).toMatchObject({ type: 'put', object: { value: { id: 'a', parts: [{ id: 'b' }] } } })
      expect((await seen('a')).value).toEqual({ id: 'a', parts: [{ id: 'b' }] })
    })

    test('changes of one commit come together, in order, with its revision', async () => {
      const { store, watch } = subject()
      const from = await store.revision()
      const { revision: first } = await store.commit([put('a'), put('b'), put('c')])
      const { revision: second } = await store.commit([remove('b'), put('d')])
      const changes = await untilBookmark(watch(from))
      expect(changes.map((change) => [describeChange(change), revisionOf(change)])).toEqual([
        ['+a', first],
        ['+b', first],
        ['+c', first],
        ['-b', second],
        ['+d', second],
      ])
    })

    test('gives only the kinds asked for, and bookmarks for the rest', async () => {
      const { store, watch } = subject()
      const from = await store.revision()
      const watching = watch(from, ['project'])
      expect(await next(watching)).toEqual({ type: 'bookmark', revision: from })
      await store.commit([put('a'), put('p', 1, { kind: 'project' }), put('b')])
      const { revision } = await store.commit([put('c')])
      expect(describeChange(await next(watching))).toBe('+p')
      let bookmark = await next(watching)
      while (revisionOf(bookmark) !== revision) {
        expect(bookmark.type).toBe('bookmark')
        bookmark = await next(watching)
      }
    })

    test('gives only the objects of the project asked for', async () => {
      const { store, watch } = subject()
      const from = await store.revision()
      const own = { scope: 'p1' }
      await store.commit([put('before', 1, own), put('foreign', 1, { scope: 'p2' }), put('nobodys')])
      const watching = watch(from, ['node'], 'p1')
      expect((await untilBookmark(watching)).map(describeChange)).toEqual(['+before'])
      const change = nextChange(watching)
      await store.commit([put('foreign', 2, { scope: 'p2' }), remove('nobodys')])
      await store.commit([put('other-kind', 1, { ...own, kind: 'project' })])
      await store.commit([put('after', 1, own), remove('before')])
      expect(await change).toBe('+after')
      expect(await nextChange(watching)).toBe('-before')
    })

    test('a quiet watch is not passed by the compaction of changes that it does not want', async () => {
      const { store, watch } = subject()
      const watching = watch(await store.revision(), ['node'], 'p1')
      await next(watching)
      const change = nextChange(watching)
      for (let n = 0; n < 3; n++) await store.commit([put('foreign', n, { scope: 'p2' })])
      await store.compact(await store.revision())
      await store.commit([put('own', 1, { scope: 'p1' })])
      expect(await change).toBe('+own')
    })

    test('a bookmark is a revision to resume from', async () => {
      const { store, watch, changesSince } = subject()
      await store.commit([put('a')])
      const first = watch(await store.revision())
      const bookmark = await next(first)
      await store.commit([put('b')])
      expect(await changesSince(revisionOf(bookmark))).toEqual(['+b'])
    })

    test('sends bookmarks at times while nothing happens', async () => {
      const { store, watch } = subject()
      const { revision } = await store.commit([put('a')])
      const watching = watch(revision)
      for (let n = 0; n < 3; n++) expect(await next(watching)).toEqual({ type: 'bookmark', revision })
    })

    test('wakes for a change that comes later', async () => {
      const { store, watch } = subject()
      const watching = watch(await store.revision(), ['node'])
      await next(watching)
      const change = nextChange(watching)
      await store.commit([put('late')])
      expect(await change).toBe('+late')
    })

    test('many watches see the same', async () => {
      const { store, watch } = subject()
      const from = await store.revision()
      const watches = Array.from({ length: 50 }, () => watch(from))
      await Promise.all(watches.map(untilBookmark))
      await store.commit([put('a'), put('b')])
      for (const watching of watches)
        expect([await nextChange(watching), await nextChange(watching)]).toEqual(['+a', '+b'])
    })

    test('ends when its signal aborts: at once, and asleep', async () => {
      const { store, watch, ending } = subject()
      const from = await store.revision()
      const aborted = store.watch({ from, signal: AbortSignal.abort() })[Symbol.asyncIterator]()
      expect((await aborted.next()).done).toBe(true)
      const asleep = watch(from)
      await next(asleep)
      const sleeping = drain(asleep)
      ending.abort()
      await sleeping
    })

    test('ends when its signal aborts in the middle of a commit', async () => {
      const { store, watch, ending } = subject()
      const from = await store.revision()
      await store.commit([put('a'), put('b')])
      const halfway = watch(from)
      await next(halfway)
      ending.abort()
      expect((await halfway.next()).done).toBe(true)
    })

    test('can be ended early', async () => {
      const { store, ending } = subject()
      const from = await store.revision()
      await store.commit([put('a'), put('b')])
      for await (const change of store.watch({ from, signal: ending.signal })) {
        expect(describeChange(change)).toBe('+a')
        break
      }
      expect(await codeOf(store.commit([put('c')]))).toBe('accepted')
    })

    test('a stalled reader delays no writer and loses nothing', async () => {
      const { store, watch } = subject()
      const from = await store.revision()
      const slow = watch(from)
      expect(isBookmark(await next(slow))).toBe(true)
      const count = 1500
      await Promise.all(Array.from({ length: count }, (_, n) => store.commit([put(`o${n}`, n)])))
      const values: unknown[] = []
      while (values.length < count) {
        const change = await next(slow)
        if (change.type === 'put') values.push(change.object.value)
      }
      expect(values).toEqual(Array.from({ length: count }, (_, n) => n))
    })

    test('from a revision that this store never issued is Gone', async () => {
      const { store, watch } = subject()
      for (const from of ['', 'nonsense', '00000000-1', `${await store.revision()}9`] as Revision[])
        expect(await codeOf(next(watch(from)))).toBe('Gone')
    })

    test('list and watch miss nothing and repeat nothing, whatever is written meanwhile', async () => {
      const { store, watch } = subject()
      const write = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), erase: fc.boolean() })
      const commits = fc.array(
        fc.record({ writes: fc.array(write, { minLength: 1, maxLength: 3 }), wait: fc.boolean() }),
      )
      const pace = fc.array(fc.boolean(), { minLength: 1 })
      await fc.assert(
        fc.asyncProperty(commits, fc.nat(10), pace, async (script, listAfterTurns, pauses) => {
          const left = (await store.list('node')).items
          await store.commit(left.map((item) => remove(item.id)))
          const start = await store.revision()
          const expected = new Map<Revision, string[]>()
          const write = async () => {
            const all = script.map(({ writes, wait }) => async () => {
              const planned = writes.map(({ id, erase }) => (erase ? remove(id) : put(id)))
              const done = store.commit(planned).then(
                ({ revision }) => expected.set(revision, planned.map(describeWrite)),
                () => 'refused whole',
              )
              if (wait) await done
            })
            for (const commit of all) await commit()
            expected.set((await store.commit([put('last')])).revision, ['+last'])
          }
          const follow = async () => {
            for (let turn = 0; turn < listAfterTurns; turn++) await nextTurn()
            const { items, revision } = await store.list('node')
            const state = new Map(items.map((item) => [item.id, item]))
            const received: Change[] = []
            const watching = watch(revision)
            while (describeChange(received.at(-1)) !== '+last' && !state.has('last')) {
              if (pauses[received.length % pauses.length]) await nextTurn()
              const change = await next(watching)
              if (!isBookmark(change)) received.push(change)
            }
            return { from: revision, state, received }
          }
          const [, { from, state, received }] = await Promise.all([write(), follow()])

          const log = await untilBookmark(watch(start))
          const inLog = Map.groupBy(log, revisionOf)
          for (const [revision, changes] of inLog) expect(changes.map(describeChange)).toEqual(expected.get(revision))
          expect(log.length).toBe([...expected.values()].flat().length)
          expect(received).toEqual(log.slice(log.findLastIndex((change) => revisionOf(change) === from) + 1))

          for (const change of received) {
            if (change.type === 'put') state.set(change.object.id, change.object)
            if (change.type === 'delete') state.delete(change.ref.id)
          }
          const now = (await store.list('node')).items
          expect([...state.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(now)
        }),
      )
    })
  })
}
