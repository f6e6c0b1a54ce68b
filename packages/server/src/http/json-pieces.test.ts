import { LongList, WrittenJson } from '@spout/runtime'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonMap, jsonPieces } from './json-pieces.ts'

test('the pieces are the same as JSON.stringify, at any depth', () => {
  fc.assert(
    fc.property(
      fc.object({
        maxKeys: 120,
        values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant(undefined)],
      }),
      fc.nat(5),
      fc.integer({ min: 1, max: 50 }),
      (value, depth, characters) => {
        expect([...jsonPieces(value, depth, characters)].join('')).toBe(JSON.stringify(value))
      },
    ),
  )
})

test('a map is written as an object, split or not', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.integer(), { maxKeys: 160 }), fc.nat(2), (fields, depth) => {
      const map = new JsonMap(new Map(Object.entries(fields)))
      expect(JSON.parse([...jsonPieces({ map }, depth)].join(''))).toEqual({ map: fields })
      expect(JSON.parse(JSON.stringify({ map }))).toEqual({ map: fields })
    }),
  )
  const map = new JsonMap(new Map(Array.from({ length: 100 }, (_, key) => [`key ${key}`, key])))
  expect([...jsonPieces(map, 1)].join('')).toBe(JSON.stringify(map))
})

test('no piece is much longer than requested', () => {
  const members = Array.from({ length: 10_000 }, (_, id) => ({ id, name: 'a member' }))
  const pieces = [...jsonPieces({ pools: [{ members }] }, 4, 1000)]
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(4000)
  expect(pieces.length).toBeGreaterThan(100)
})

test.each([
  ['many members', Array.from({ length: 10_000 }, (_, id) => ({ id }))],
  [
    'a long list of members',
    LongList.of(
      Array.from({ length: 10_000 }, (_, id) => id),
      (id) => ({ id }),
    ),
  ],
])('an item of a long list is split when it has %s', (_, members) => {
  const pieces = [...jsonPieces({ items: LongList.of([1, 2, 3], (id) => ({ id, tags: [], members })) }, 10, 1000)]
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(4000)
  expect(pieces.length).toBeGreaterThan(100)
})

const anything = fc.anything({
  values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
  maxDepth: 3,
})
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null')

test('a long list is written as an array, wherever it stands and whatever is in it', () => {
  fc.assert(
    fc.property(fc.array(anything), fc.nat(6), fc.integer({ min: 1, max: 200 }), (values, depth, characters) => {
      const items = values.map(plain)
      const answer = { lists: [LongList.of(items, (one) => ({ one, again: LongList.of(items, (each) => each) }))] }
      expect([...jsonPieces(answer, depth, characters)].join('')).toBe(JSON.stringify(answer))
    }),
  )
})

test('what was written before is copied, wherever it stands', () => {
  fc.assert(
    fc.property(fc.array(fc.object()), fc.nat(4), (values, depth) => {
      const items = values.map(plain) as object[]
      const written = items.map((item) => new WrittenJson(item))
      const answer = { list: LongList.of(written, (one) => one), array: written, own: new WrittenJson({ items }) }
      const text = JSON.stringify({ list: items, array: items, own: { items } })
      expect([...jsonPieces(answer, depth, 50)].join('')).toBe(text)
      expect(JSON.stringify(answer)).toBe(text)
    }),
  )
})

test('of a long list only what was written is rendered', () => {
  let shown = 0
  const items = Array.from({ length: 100_000 }, (_, id) => ({ id }))
  const pieces = jsonPieces({ items: LongList.of(items, (item) => ({ ...item, shown: ++shown })) }, 4, 1000)
  pieces.next()
  expect(shown).toBeGreaterThan(0)
  expect(shown).toBeLessThan(200)
})
