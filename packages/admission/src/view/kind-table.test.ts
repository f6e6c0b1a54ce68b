import type { Network } from '@spout/model'
import type { Revision } from '@spout/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KindTable } from './kind-table.ts'

/** A table only keeps it. */
const REVISION = '' as unknown as Revision
const IDS = ['a', 'b', 'c', 'd', 'e', 'f'] as const
const PROJECTS = [null, 'p', 'q'] as const
const ALL = [null, 'p', 'q'] as const

/** Only what a table looks at. Times are the id's own, as they are of stored objects. */
const object = (id: string, projectId: string | null, version: number): Network =>
  ({
    id,
    projectId,
    createdAt: `2026-01-0${(IDS.indexOf(id as 'a') * 5) % 4}`,
    name: `${version}`,
  }) as unknown as Network

const sorted = (objects: Iterable<Network>): readonly Network[] =>
  [...objects].sort((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1))

const step = fc.oneof(
  fc.record({ op: fc.constant('put' as const), id: fc.constantFrom(...IDS), project: fc.constantFrom(...PROJECTS) }),
  fc.record({ op: fc.constant('delete' as const), id: fc.constantFrom(...IDS) }),
  fc.record({ op: fc.constant('list' as const), project: fc.constantFrom(...ALL) }),
)

test('lists are in the order of age, whatever changed between them', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const table = new KindTable<'network'>()
      const stored = new Map<string, Network>()
      const expected = (project: string | null) =>
        sorted([...stored.values()].filter(({ projectId }) => project === null || projectId === project))
      for (const [version, one] of steps.entries())
        if (one.op === 'list') expect(table.list(one.project)).toEqual(expected(one.project))
        else if (one.op === 'delete') {
          expect(table.delete(one.id)).toBe(stored.get(one.id) ?? null)
          stored.delete(one.id)
        } else {
          const value = object(one.id, one.project, version)
          expect(table.put({ value, revision: REVISION })).toBe(stored.get(one.id) ?? null)
          stored.set(one.id, value)
        }
      for (const project of ALL) expect(table.list(project)).toEqual(expected(project))
    }),
  )
})

test('a list stays as it was given out, and is the same one until something changes', () => {
  const table = new KindTable<'network'>()
  table.put({ value: object('a', 'p', 1), revision: REVISION })
  const before = table.list('p')
  expect(table.list('p')).toBe(before)
  table.put({ value: object('b', 'p', 1), revision: REVISION })
  table.delete('a')
  expect(before.map(({ id }) => id)).toEqual(['a'])
  expect(table.list('p').map(({ id }) => id)).toEqual(['b'])
})

test('more changes than are remembered are in the next list, too', () => {
  const table = new KindTable<'network'>()
  const numbered = (at: number, name: string): Network =>
    ({ id: `n${at}`, projectId: 'p', createdAt: String(at).padStart(6, '0'), name }) as unknown as Network
  const put = (value: Network) => table.put({ value, revision: REVISION })
  put(numbered(0, 'first'))
  expect(table.list('p')).toHaveLength(1)
  for (let at = 3000; at > 0; at--) put(numbered(at, 'new'))
  expect(table.list('p').map(({ id }) => id)).toEqual(Array.from({ length: 3001 }, (_, at) => `n${at}`))
  for (let at = 0; at < 200; at++) put(numbered(at, 'changed'))
  expect(table.list('p').filter(({ name }) => name === 'changed')).toHaveLength(200)
  expect(table.list(null)).toEqual(table.list('p'))
})
