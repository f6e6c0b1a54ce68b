import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sameForNodes } from './same-for-nodes.ts'

const PROSE = ['name', 'description', 'tags', 'createdAt', 'updatedAt']

/** The slow and plain comparison: both as texts, without the fields that no node sees. */
const sameTexts = (before: unknown, after: unknown): boolean => {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, field: unknown) => {
      if (typeof field !== 'object' || field === null || Array.isArray(field)) return field
      const fields = Object.entries(field).filter(([name]) => !('id' in field) || !PROSE.includes(name))
      return Object.fromEntries(fields.sort(([one], [other]) => (one < other ? -1 : 1)))
    })
  return text(before) === text(after)
}

const part = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 1, 'x'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('id', 'name', 'tags', 'port', 'members', 'monitor'), tie('value'), { maxKeys: 4 }),
  ),
})).value

test('compares two parts as their JSON without such fields', () => {
  fc.assert(
    fc.property(part, part, (before, after) => {
      expect(sameForNodes(before, after)).toBe(sameTexts(before, after))
      expect(sameForNodes(before, structuredClone(before))).toBe(true)
    }),
    { numRuns: byLength(400, 2000) },
  )
})

test('a name is for people in a part with an id, and data elsewhere', () => {
  const listener = (name: string, header: string) => ({ id: 'l', name, matches: [{ name: header, value: 'x' }] })
  expect(sameForNodes(listener('web', 'x-tenant'), listener('shop', 'x-tenant'))).toBe(true)
  expect(sameForNodes(listener('web', 'x-tenant'), listener('web', 'x-user'))).toBe(false)
})

test('does not visit what two documents share', () => {
  const shared = new Proxy([], {
    get: () => {
      throw new Error('was looked into')
    },
  })
  expect(sameForNodes({ id: 'a', pools: shared, port: 1 }, { id: 'a', pools: shared, port: 1, name: 'other' })).toBe(
    true,
  )
  expect(sameForNodes({ pools: shared, port: 1 }, { pools: shared, port: 2 })).toBe(false)
})
