import fc from 'fast-check'
import { expect, test } from 'vitest'
import { listDifference } from './list-difference.ts'

test('tells what is gone, what came and what moved', () => {
  expect(listDifference(['a', 'b', 'c'], ['a', 'b', 'c'])).toEqual({ gone: [], come: [], moved: [] })
  expect(listDifference(['a', 'b', 'c'], ['a', 'x', 'c'])).toEqual({ gone: ['b'], come: ['x'], moved: [] })
  expect(listDifference(['a', 'b', 'c', 'd'], ['d', 'a', 'b', 'c'])).toEqual({ gone: [], come: [], moved: ['d'] })
  expect(listDifference(['a', 'b', 'c', 'd'], ['b', 'c', 'd', 'a'])).toEqual({ gone: [], come: [], moved: ['a'] })
  expect(listDifference(['a', 'b', 'c', 'd', 'e'], ['e', 'b', 'x', 'd', 'a']).moved).toHaveLength(2)
})

test('without what moved, both lists have the same order, and one moved item is found alone', () => {
  const list = fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 15 })
  fc.assert(
    fc.property(list, list, (before, after) => {
      const { gone, come, moved } = listDifference(before, after)
      const stay = (items: readonly number[], left: readonly number[]) =>
        items.filter((item) => !left.includes(item) && !moved.includes(item))
      expect(stay(before, gone)).toEqual(stay(after, come))
      expect(gone.some((item) => after.includes(item)) || come.some((item) => before.includes(item))).toBe(false)
    }),
  )
  fc.assert(
    fc.property(list, fc.nat(), fc.nat(), (before, from, to) => {
      fc.pre(before.length > 0)
      const item = before[from % before.length]!
      const after = before.filter((one) => one !== item).toSpliced(to % before.length, 0, item)
      expect(listDifference(before, after).moved.length).toBeLessThanOrEqual(1)
    }),
  )
})
