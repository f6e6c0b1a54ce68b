import { atOnce } from '@spout/runtime'
import { describe, expect, test } from 'vitest'
import { freezingAsJson } from './frozen.ts'

const freezeAsJson = (value: unknown, like: unknown) => atOnce(freezingAsJson(value, like))

describe('a value that the store takes over', () => {
  test('is frozen, unless it is not JSON', () => {
    const known = Object.freeze([Object.freeze({ id: 'a' })])
    const value = { list: [...known, { id: 'b', deep: [{}] }], none: null }
    // A list of two; the one in it holds a list of one.
    expect(freezeAsJson(value, { list: known })).toBe(8 * 3)
    expect(
      [value, value.list, value.list[1], (value.list[1] as { deep: object[] }).deep[0]].every(Object.isFrozen),
    ).toBe(true)
    for (const wrong of [undefined, Number.NaN, -0, new Date(), new Map(), () => 1, 1n]) {
      const holder = { wrong }
      expect(freezeAsJson(holder, undefined)).toBeNull()
      expect(Object.isFrozen(holder)).toBe(false)
    }
    const gap: unknown[] = [1]
    gap[2] = 2
    expect(freezeAsJson(gap, undefined)).toBeNull()
  })
})
