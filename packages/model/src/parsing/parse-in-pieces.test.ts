import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SpoutError } from './errors.ts'
import { parseAs } from './parse.ts'
import { parsingAs } from './parse-in-pieces.ts'

const item = z.strictObject({ name: z.string().default('nameless'), weight: z.number().int().max(9) })
const schema = z.strictObject({
  title: z.string(),
  pools: z
    .array(z.strictObject({ name: z.string().default(''), members: z.array(item).max(200).default([]) }))
    .min(1)
    .max(3)
    .default([]),
})

function inOne(value: unknown): { readonly parsed: unknown; readonly pauses: number } {
  const work = parsingAs(schema, value)
  for (let pauses = 0; ; pauses++) {
    const step = work.next()
    if (step.done === true) return { parsed: step.value, pauses }
  }
}

const refusalOf = (parse: () => unknown): SpoutError | null => {
  try {
    parse()
    return null
  } catch (error) {
    if (error instanceof SpoutError) return error
    throw error
  }
}

const members = (count: number, at = -1, wrong: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ weight: n % 10, ...(n === at ? wrong : {}) }))

describe('a document that is validated in pieces', () => {
  test('is what it is at once, with a pause for each item of a long list', () => {
    const value = { title: 'a', pools: [{ members: members(100) }, { name: 'short', members: members(3) }] }
    const { parsed, pauses } = inOne(value)
    expect(parsed).toEqual(parseAs(schema, value))
    expect(pauses).toBeGreaterThanOrEqual(100)
    expect(inOne({ title: 'a', pools: [{ members: members(3) }] }).pauses).toBe(0)
  })

  test.each<[string, unknown, string]>([
    [
      'a wrong item',
      { title: 'a', pools: [{ members: members(100, 70, { weight: 10 }) }] },
      'pools[0].members[70].weight',
    ],
    ['an unknown field', { title: 'a', pools: [{ members: members(100, 7, { x: 1 }) }] }, 'pools[0].members[7].x'],
    ['what is around the list', { pools: [{ members: members(100) }] }, 'title'],
    ['an item that is none', { title: 'a', pools: [{ members: [...members(99), null] }] }, 'pools[0].members[99]'],
    ['too many items', { title: 'a', pools: [{ members: members(201) }] }, 'pools[0].members'],
    ['an empty list', { title: 'a', pools: [] }, 'pools'],
    ['too many lists', { title: 'a', pools: Array(4).fill({ members: members(64) }) }, 'pools'],
  ])('is refused as at once, and the field is named: %s', (_, value, field) => {
    const refused = refusalOf(() => inOne(value))
    expect(refused).toMatchObject({ field })
    expect(refused?.message).toBe(refusalOf(() => parseAs(schema, value))?.message)
  })

  test('whatever it is, the outcome is the same', () => {
    const anyItem = fc.oneof(
      fc.record({ weight: fc.integer({ min: 0, max: 10 }), name: fc.string() }, { requiredKeys: ['weight'] }),
      // Bodies are JSON, so nothing in them is undefined.
      { arbitrary: fc.jsonValue(), weight: 1 },
    )
    fc.assert(
      fc.property(fc.array(anyItem, { maxLength: 3 }), fc.nat(64), (some, at) => {
        const value = { title: 'a', pools: [{ members: [...members(at), ...some, ...members(64 - at)] }] }
        const [one, other] = [refusalOf(() => inOne(value)), refusalOf(() => parseAs(schema, value))]
        expect(one?.message).toBe(other?.message)
        if (one === null) expect(inOne(value).parsed).toEqual(parseAs(schema, value))
      }),
    )
  })
})
