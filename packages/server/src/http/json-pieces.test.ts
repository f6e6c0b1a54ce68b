import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonPieces } from './json-pieces.ts'

test('the pieces are what JSON.stringify says, at any depth', () => {
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

test('no piece is much longer than asked for', () => {
  const members = Array.from({ length: 10_000 }, (_, id) => ({ id, name: 'a member' }))
  const pieces = [...jsonPieces({ pools: [{ members }] }, 4, 1000)]
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(4000)
  expect(pieces.length).toBeGreaterThan(100)
})
