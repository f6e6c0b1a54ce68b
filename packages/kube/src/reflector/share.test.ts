import { isDeepStrictEqual } from 'node:util'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { share } from './share.ts'

const value = fc.jsonValue({ maxDepth: 4 })
/** Few keys and values, so that pairs often have something in common. */
const alike: fc.Arbitrary<unknown> = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, 1, 'a', undefined),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), tie('tree'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).tree

it('equals the new value, and is the old object when nothing differs', () => {
  fc.assert(
    fc.property(fc.oneof(fc.tuple(value, value), fc.tuple(alike, alike)), ([before, next]) => {
      const [was, came] = [structuredClone(before), structuredClone(next)]
      const shared = share(before, next)
      expect(isDeepStrictEqual(shared, came)).toBe(true)
      expect(isDeepStrictEqual(before, was)).toBe(true)
      expect(Object.is(shared, before)).toBe(isDeepStrictEqual(was, came))
    }),
    { numRuns: byLength(400, 2000) },
  )
})

it('keeps equal parts', () => {
  const before = { ports: [{ port: 80 }], endpoints: [{ address: 'a' }, { address: 'b' }] }
  const next = { ports: [{ port: 80 }], endpoints: [{ address: 'a' }, { address: 'c' }, { address: 'd' }] }
  const shared = share(before, next)
  expect(shared).toEqual(next)
  expect(shared.ports).toBe(before.ports)
  expect(shared.endpoints[0]).toBe(before.endpoints[0])
})

it('of a list that was made from the old one, shares what stands elsewhere now', () => {
  const change = fc.record({ at: fc.nat(8), remove: fc.nat(2), add: fc.array(alike, { maxLength: 2 }) })
  fc.assert(
    fc.property(fc.array(alike, { maxLength: 8 }), fc.array(change, { maxLength: 3 }), (before, changes) => {
      const next = changes.reduce((list, { at, remove, add }) => list.toSpliced(at, remove, ...add), [...before])
      const [was, came] = [structuredClone(before), structuredClone(next)]
      const shared = share(before, next)
      expect(isDeepStrictEqual(shared, came)).toBe(true)
      expect(isDeepStrictEqual(before, was)).toBe(true)
      expect(Object.is(shared, before)).toBe(isDeepStrictEqual(was, came))
    }),
    { numRuns: byLength(400, 2000) },
  )
})

it('does not look into what stands elsewhere now', () => {
  const looked: string[] = []
  const item = (name: string) => ({
    get name() {
      looked.push(name)
      return name
    },
  })
  const [a, b, c, d, fresh] = ['a', 'b', 'c', 'd', 'fresh'].map(item)
  share([a, b, c, d], [fresh, a, b, c, d])
  share([a, b, c, d], [a, c, d])
  expect(looked).toEqual([])
})
