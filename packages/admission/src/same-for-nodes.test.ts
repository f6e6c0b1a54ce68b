import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sameForNodes } from './same-for-nodes.ts'

const PROSE = ['name', 'description', 'tags', 'createdAt', 'updatedAt']

/** The slow and plain way: both as texts, without what no node sees. */
const sameTexts = (before: unknown, after: unknown): boolean => {
  const text = (value: unknown): string =>
    JSON.stringify(value, (key, field: unknown) => {
      if (PROSE.includes(key)) return undefined
      if (typeof field !== 'object' || field === null || Array.isArray(field)) return field
      return Object.fromEntries(Object.entries(field).sort(([one], [other]) => (one < other ? -1 : 1)))
    })
  return text(before) === text(after)
}

const part = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 1, 'x'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('name', 'tags', 'port', 'members', 'monitor'), tie('value'), { maxKeys: 4 }),
  ),
})).value

test('says of any two parts what their texts say', () => {
  fc.assert(
    fc.property(part, part, (before, after) => {
      expect(sameForNodes(before, after)).toBe(sameTexts(before, after))
      expect(sameForNodes(before, structuredClone(before))).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

test('does not look into what two documents share', () => {
  const shared = new Proxy([], {
    get: () => {
      throw new Error('was looked into')
    },
  })
  expect(sameForNodes({ pools: shared, port: 1 }, { pools: shared, port: 1, name: 'other' })).toBe(true)
  expect(sameForNodes({ pools: shared, port: 1 }, { pools: shared, port: 2 })).toBe(false)
})
