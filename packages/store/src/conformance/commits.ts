import { describe, expect, test } from 'vitest'
import type { Revision, Write } from '../store.ts'
import { codeOf, put, remove, type Subject } from './subject.ts'

/** What `commit` promises. */
export function describeCommits(subject: () => Subject): void {
  describe('commit', () => {
    test('applies all writes under one revision, in order', async () => {
      const { store } = subject()
      await store.commit([put('gone')])
      const { revision } = await store.commit([put('a', 1), remove('gone'), put('b', 2), put('a', 3)])
      expect((await store.list('node')).items.map((item) => [item.id, item.value, item.revision])).toEqual([
        ['a', 3, revision],
        ['b', 2, revision],
      ])
    })

    test('changes the revision every time, also when the value stays', async () => {
      const { store } = subject()
      const revisions = [await store.revision()]
      for (let n = 0; n < 3; n++) revisions.push((await store.commit([put('a', 1)])).revision)
      expect(new Set(revisions).size).toBe(4)
    })

    test('without writes changes nothing', async () => {
      const { store, changesSince } = subject()
      const before = await store.revision()
      expect(await store.commit([])).toEqual({ revision: before })
      expect(await changesSince(before)).toEqual([])
    })

    test.each<[string, (a: Revision, old: Revision) => Write, string]>([
      ['a put unconditionally', () => put('a'), 'accepted'],
      ['a new put unconditionally', () => put('new'), 'accepted'],
      ['a put if at its revision', (a) => put('a', 9, { ifRevision: a }), 'accepted'],
      ['a put if at an older revision', (_, old) => put('a', 9, { ifRevision: old }), 'RevisionConflict'],
      ['a put if at a strange revision', () => put('a', 9, { ifRevision: 'x' as Revision }), 'RevisionConflict'],
      ['a put if absent, but it exists', () => put('a', 9, { ifRevision: 'absent' }), 'AlreadyExists'],
      ['a put if absent, and it is', () => put('new', 9, { ifRevision: 'absent' }), 'accepted'],
      ['a put if at a revision of what is not there', (a) => put('new', 9, { ifRevision: a }), 'NotFound'],
      ['a delete unconditionally', () => remove('a'), 'accepted'],
      ['a delete if at its revision', (a) => remove('a', a), 'accepted'],
      ['a delete if at an older revision', (_, old) => remove('a', old), 'RevisionConflict'],
      ['a delete of what is not there', () => remove('new'), 'NotFound'],
      ['a conditional delete of what is not there', (a) => remove('new', a), 'NotFound'],
      ['a put without id', () => put(''), 'InvalidField'],
      ['a put with an id of 129 characters', () => put('x'.repeat(129)), 'InvalidField'],
      ['a put with a line break in its id', () => put('a\nb'), 'InvalidField'],
      ['a put of what JSON cannot express', () => put('a', Symbol('no JSON')), 'InvalidField'],
    ])('%s', async (_, write, expected) => {
      const { store, changesSince } = subject()
      const { revision: old } = await store.commit([put('a', 1)])
      const { revision } = await store.commit([put('a', 2)])
      const before = await store.list('node')
      expect(await codeOf(store.commit([put('beside', 1), write(revision, old), put('after', 1)]))).toBe(expected)
      if (expected !== 'accepted') {
        expect(await store.list('node')).toEqual(before)
        expect(await changesSince(revision)).toEqual([])
      }
    })

    test('names the object that conflicts', async () => {
      const { store } = subject()
      await store.commit([put('a')])
      await expect(store.commit([put('a', 1, { ifRevision: 'absent' })])).rejects.toThrow('node a already exists')
    })

    test('sees its own earlier writes', async () => {
      const { store, seen } = subject()
      expect(await codeOf(store.commit([put('a', 1), put('a', 2, { ifRevision: 'absent' })]))).toBe('AlreadyExists')
      expect(await codeOf(store.commit([put('a'), remove('a'), put('a', 3, { ifRevision: 'absent' })]))).toBe(
        'accepted',
      )
      expect((await seen('a')).value).toBe(3)
    })

    test('concurrent ones succeed or fail independently: of many with one condition, one wins', async () => {
      const { store, changesSince } = subject()
      const { revision } = await store.commit([put('a', 0)])
      const codes = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          codeOf(store.commit([put(`mine-${n}`, n), put('a', n, { ifRevision: revision })])),
        ),
      )
      expect(codes.toSorted()).toEqual(['RevisionConflict', 'accepted'].flatMap((c, i) => Array(i ? 1 : 19).fill(c)))
      const winner = codes.indexOf('accepted')
      expect((await store.list('node')).items.map(({ id }) => id)).toEqual(['a', `mine-${winner}`])
      expect(await changesSince(revision)).toEqual([`+mine-${winner}`, '+a'])
    })

    test('one that is prepared in turns stores the same, lets others go ahead, and fails if they were faster', async () => {
      const { store, seen } = subject()
      const items = Array.from({ length: 2000 }, (_, n) => ({ id: `i${n}`, text: 'some text', n }))
      const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
      const first = await store.commit([put('a', { items }, { ifRevision: 'absent', over: null })], { turn })
      expect((await seen('a')).value).toEqual({ items })

      const { value: over } = await seen('a')
      const longer = { items: [...items, ...items.map(({ id, ...item }) => ({ ...item, id: `${id} again` }))] }
      const long = store.commit([put('a', longer, { ifRevision: first.revision, over })], { turn })
      const quick = store.commit([put('a', 'quick', { ifRevision: first.revision })])
      expect([await codeOf(quick), await codeOf(long)]).toEqual(['accepted', 'RevisionConflict'])
      expect((await seen('a')).value).toBe('quick')
    })

    test('counters changed by compare-and-swap lose no increment', async () => {
      const { store, seen } = subject()
      await store.commit([put('counter', 0)])
      const increment = async (): Promise<void> => {
        const { value, revision } = await seen('counter')
        const code = await codeOf(store.commit([put('counter', Number(value) + 1, { ifRevision: revision })]))
        if (code === 'RevisionConflict') return increment()
        expect(code).toBe('accepted')
      }
      await Promise.all(Array.from({ length: 8 }, increment))
      expect((await seen('counter')).value).toBe(8)
    })
  })
}
