import { atOnce } from '@spout/runtime'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { writing } from './writing.ts'

test('a value is the same text, however long its lists are', () => {
  const long = fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 120, maxLength: 300 })
  const value = fc.record({
    a: fc.jsonValue(),
    b: fc.array(fc.record({ c: long, d: fc.jsonValue() }), { maxLength: 2 }),
  })
  fc.assert(
    fc.property(fc.oneof(value, long, fc.jsonValue()), (one) => {
      expect(atOnce(writing(one))).toBe(JSON.stringify(one))
    }),
    { numRuns: 50 },
  )
})

test('it pauses in long lists, and only there', () => {
  const pauses = (value: unknown) => [...writing(value)].length
  expect(pauses({ pools: [{ members: Array(5000).fill({ id: 'a' }) }] })).toBeGreaterThan(20)
  expect(pauses({ pools: [{ members: Array(100).fill({ id: 'a' }) }] })).toBe(0)
})
