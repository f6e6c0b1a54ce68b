import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fewStretchesOf, listDifference, stretchesOf } from './list-difference.ts'

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

test('a few changes at any places of a long list are found as looking up each item finds them', () => {
  const change = fc.record({ at: fc.nat(100), remove: fc.nat(3), add: fc.nat(20), move: fc.option(fc.nat(100)) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 5 }), (changes) => {
      const before = Array.from({ length: 100 }, (_, at) => at)
      let [after, next] = [before, 100]
      for (const { at, remove, add, move } of changes) {
        after = after.toSpliced(at, remove, ...Array.from({ length: add }, () => next++))
        if (move !== null) after.splice(move, 0, ...after.splice(at, 1))
      }
      const { gone, come, moved } = listDifference(before, after)
      expect(gone).toEqual(before.filter((item) => !after.includes(item)))
      expect(come).toEqual(after.filter((item) => !before.includes(item)))
      const stayed = (items: readonly number[]) =>
        items.filter((item) => !gone.includes(item) && !come.includes(item) && !moved.includes(item))
      expect(stayed(before)).toEqual(stayed(after))
      if (changes.every(({ move }) => move === null)) expect(moved).toEqual([])
    }),
  )
})

test('a list is put together from its stretches', () => {
  const list = fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 20 })
  fc.assert(
    fc.property(list, list, (before, others) => {
      const kept = before.filter((_, at) => at % 3 !== 0)
      for (const after of [others, kept, [...kept, ...others.filter((one) => !kept.includes(one))]]) {
        const stretches = stretchesOf(before, after)
        expect(stretches === null).toBe(listDifference(before, after).moved.length > 0)
        if (stretches === null) continue
        expect(
          stretches.flatMap(({ at, count, from }) =>
            from === null ? after.slice(at, at + count) : before.slice(from, from + count),
          ),
        ).toEqual(after)
        const came = stretches.flatMap(({ at, count, from }) => (from === null ? after.slice(at, at + count) : []))
        expect(came).toEqual(listDifference(before, after).come)
      }
    }),
  )
})

test('two long frozen lists are compared once, whoever asks', () => {
  let reads = 0
  const counted = (items: readonly object[]): readonly object[] => {
    const list = [...items]
    const [first] = items
    Object.defineProperty(list, 0, {
      enumerable: true,
      get: () => {
        reads++
        return first
      },
    })
    return Object.freeze(list)
  }
  const readsOf = (compare: () => unknown): number => {
    reads = 0
    compare()
    return reads
  }
  const items = Array.from({ length: 100 }, (_, at) => ({ at }))
  const [before, other] = [counted(items), counted(items.slice(1))]
  const after = counted([...items.slice(0, 50), { at: 200 }, ...items.slice(50)])
  const stretches = [
    { at: 0, count: 50, from: 0 },
    { at: 50, count: 1, from: null },
    { at: 51, count: 50, from: 50 },
  ]
  expect(readsOf(() => listDifference(before, after))).toBeGreaterThan(0)
  expect(
    readsOf(() => {
      expect(listDifference(before, after)).toMatchObject({ gone: [], come: [{ at: 200 }], moved: [] })
      expect(stretchesOf(before, after)).toEqual(stretches)
      expect(fewStretchesOf(before, after)).toEqual(stretches)
    }),
  ).toBe(0)
  expect(listDifference(other, after).come).toEqual([{ at: 0 }, { at: 200 }])
  expect(readsOf(() => listDifference(before, after))).toBeGreaterThan(0)
})

test('lists that may change are compared each time', () => {
  const before = Object.freeze(Array.from({ length: 100 }, (_, at) => ({ at })))
  const after = [...before]
  expect(listDifference(before, after).come).toEqual([])
  after.push({ at: 100 })
  expect(listDifference(before, after).come).toEqual([{ at: 100 }])
})
