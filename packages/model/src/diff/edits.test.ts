import { codePoint } from '@spout/testkit/code-point'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { edited, editsBetween } from './edits.ts'

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T
/** The value after the edits, which are copied as JSON as on their way to a reader. */
const after = (before: unknown, edits: unknown): unknown => edited(before, copy(edits) as Parameters<typeof edited>[1])

describe('edits between two values', () => {
  const members = Array.from({ length: 1000 }, (_, at) => ({ id: `m${at}`, weight: 1 }))
  const document = { generation: 1, name: 'web', pools: [{ id: 'p', members }] }
  const withMembers = (list: readonly object[]) => ({ ...document, generation: 2, pools: [{ id: 'p', members: list }] })

  test.each([
    ['a member more', [...members, { id: 'new', weight: 1 }]],
    ['a member less', members.toSpliced(500, 1)],
    ['one that goes and one that comes', [...members.toSpliced(7, 1), { id: 'new', weight: 1 }]],
    ['one that changes', members.with(3, { id: 'm3', weight: 9 })],
    ['one in the middle', members.toSpliced(500, 0, { id: 'new', weight: 1 })],
    [
      'some at two places, and one that moves',
      members
        .toSpliced(900, 0, { id: 'new', weight: 1 }, { id: 'newer', weight: 1 })
        .toSpliced(500, 0, { id: 'newest', weight: 1 })
        .toSpliced(7, 1)
        .toSpliced(100, 0, members[7]!),
    ],
    ['one in the place of another', members.with(500, { id: 'new', weight: 1 })],
  ])('%s of a thousand costs little', (_, list) => {
    const changed = withMembers(list)
    // A copy that shares nothing with the value before gives edits of the same size.
    for (const edits of [editsBetween(document, changed), editsBetween(document, copy(changed))]) {
      expect(after(document, edits)).toEqual(changed)
      expect(JSON.stringify(edits).length).toBeLessThan(300)
    }
  })

  test('a long text that changes in places costs as much as the changes', () => {
    const text = 'AAEC'.repeat(2000)
    const changed = `${text.slice(0, 100)}xy${text.slice(102, 105)}z${text.slice(106, -1)}!`
    const [before, now] = [{ pools: [{ table: text }] }, { pools: [{ table: changed }] }]
    const edits = editsBetween(before, now)
    expect(edits).toEqual([
      [
        ['pools', 0, 'table'],
        'text',
        [
          [100, 'xyECAz'],
          [7999, '!'],
        ],
      ],
    ])
    expect(after(before, edits)).toEqual(now)
  })

  test.each([
    ['shorter than it is worth', 'a'.repeat(100), `${'a'.repeat(99)}b`],
    ['of another length', 'a'.repeat(1000), 'a'.repeat(1001)],
    ['that changes everywhere', 'ab'.repeat(1000), 'ba'.repeat(1000)],
  ])('a text %s is set', (_, text, changed) => {
    expect(editsBetween({ text }, { text: changed })).toEqual([[['text'], 'set', changed]])
  })

  test('property: edits turn any long text into any other', () => {
    const units = fc.string({ minLength: 600, maxLength: 600, unit: codePoint })
    const places = fc.array(fc.tuple(fc.nat(599), fc.string({ minLength: 1, maxLength: 3 })), { maxLength: 12 })
    fc.assert(
      fc.property(units, places, (text, changes) => {
        const changed = changes.reduce((now, [at, put]) => now.slice(0, at) + put + now.slice(at + put.length), text)
        expect(after({ text }, editsBetween({ text }, { text: changed }))).toEqual({ text: changed })
      }),
    )
  })

  test('items without an id are matched by index', () => {
    const [before, now] = [
      { pools: [{ poolId: 'p', members: ['a', 'b'] }] },
      { pools: [{ poolId: 'p', members: ['a'] }] },
    ]
    expect(editsBetween(before, now)).toEqual([[['pools', 0, 'members'], 'list', [[0, 1]]]])
  })

  test('an equal copy costs nothing', () => {
    const value = { ...document, ranges: [{ first: 200, last: 299 }] }
    expect(editsBetween(value, copy(value))).toEqual([])
  })

  test('a value that is no longer an object cannot be expressed', () => {
    expect(editsBetween({ a: 1 }, 7)).toBeNull()
    expect(editsBetween({ a: 1 }, JSON.parse('{"__proto__": {"b": 1}}'))).toBeNull()
  })

  test('property: the edits turn one value into the other', () => {
    const item = fc.oneof(
      fc.jsonValue(),
      fc.record({ id: fc.constantFrom('a', 'b', 'c'), n: fc.integer() }),
      fc.constantFrom('x', 'y', null),
    )
    const value = fc.record({ id: fc.constant('v'), list: fc.array(item), other: fc.jsonValue() })
    /** A changed value that shares parts with the one before, as a changed document does. */
    const change = fc.tuple(fc.nat(5), fc.nat(5), fc.nat(2), item, fc.jsonValue(), fc.boolean())
    fc.assert(
      fc.property(value, change, (before, [from, at, count, fresh, other, move]) => {
        const list = before.list.toSpliced(at, count, fresh)
        if (move) list.push(...list.splice(from, 1))
        const changed = { ...before, list, other }
        // A reader of the edits got the value as JSON, which has no negative zero.
        for (const edits of [editsBetween(before, changed), editsBetween(before, copy(changed))])
          if (edits !== null) expect(after(copy(before), edits)).toEqual(copy(changed))
      }),
    )
  })
})
