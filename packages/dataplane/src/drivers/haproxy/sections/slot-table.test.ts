import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Slot, SlotsExhausted, SlotTable } from './slot-table.ts'

const table = (most: number, slots: readonly Slot<string>[] = []) =>
  new SlotTable<string>({ keyOf: (shape) => shape, most, slots })

const stock = (shape: string, count: number, from = 0): Slot<string>[] =>
  Array.from({ length: count }, (_, index) => ({ id: from + index, shape, owner: null, cooling: false }))

/** Shapes in use of which less than a quarter is free. */
const scarceOf = (all: readonly Slot<string>[]): readonly string[] =>
  [...new Set(all.filter(({ owner }) => owner !== null).map(({ shape }) => shape))]
    .filter((shape) => {
      const same = all.filter((slot) => slot.shape === shape)
      return 4 * same.filter(({ owner, cooling }) => owner === null && !cooling).length < same.length
    })
    .toSorted()

describe('SlotTable', () => {
  it('gives a free slot of the shape, and the same one again', () => {
    const slots = table(10, [...stock('a', 2), ...stock('b', 1, 2)])
    expect(slots.take('x', 'b').id).toBe(2)
    expect(slots.take('x', 'b').id).toBe(2)
    expect(slots.take('y', 'a').id).toBe(0)
    expect(slots.revision).toBe(0)
  })

  it('grows when there is none, by as many as there are', () => {
    const slots = table(100, stock('a', 4))
    for (const owner of ['1', '2', '3', '4', '5']) slots.take(owner, 'a')
    expect(slots.slots).toHaveLength(8)
    expect(slots.revision).toBeGreaterThan(0)
    slots.take('new', 'c')
    expect(slots.slots.filter(({ shape }) => shape === 'c')).toHaveLength(2)
  })

  it('adds a quarter to many, of which an eighth is kept free', () => {
    const slots = table(10_000, stock('a', 1_024))
    for (let at = 0; at < 896; at++) slots.take(String(at), 'a')
    expect(slots.scarce()).toEqual([])
    slots.take('one more', 'a')
    expect(slots.scarce()).toEqual(['a'])
    slots.grow('a')
    expect(slots.slots).toHaveLength(1_280)
  })

  it('reshapes in place, so that the owner keeps its number', () => {
    const slots = table(10, stock('a', 2))
    const { id } = slots.take('x', 'a')
    expect(slots.take('x', 'b')).toMatchObject({ id, shape: 'b', owner: 'x' })
    expect(slots.revision).toBe(1)
  })

  it('does not give a slot out again before it was reclaimed', () => {
    const slots = table(1, stock('a', 1))
    slots.take('x', 'a')
    expect(slots.release('x')?.id).toBe(0)
    expect(() => slots.take('y', 'a')).toThrow(SlotsExhausted)
    slots.reclaim(0)
    expect(slots.take('y', 'a').id).toBe(0)
  })

  it('finds shapes that run out, and drops unused ones', () => {
    const slots = table(100, [...stock('a', 4), ...stock('b', 2, 4)])
    expect(slots.scarce()).toEqual([])
    for (const owner of ['1', '2', '3', '4']) slots.take(owner, 'a')
    expect(slots.scarce()).toEqual(['a'])
    slots.trim(['a'])
    expect(slots.slots.map(({ shape }) => shape)).toEqual(['a', 'a', 'a', 'a'])
  })

  it('is consistent after any history', () => {
    const owner = fc.constantFrom('o1', 'o2', 'o3', 'o4', 'o5', 'o6')
    const shape = fc.constantFrom('a', 'b', 'c')
    const step = fc.oneof(
      fc.record({ do: fc.constant('take' as const), owner, shape }),
      fc.record({ do: fc.constant('release' as const), owner }),
      fc.record({ do: fc.constant('reclaim' as const) }),
      fc.record({ do: fc.constant('trim' as const) }),
      fc.record({ do: fc.constant('grow' as const), shape }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const slots = table(12, stock('a', 2))
        const owned = new Map<string, string>()
        for (const one of steps) {
          const cooling = new Set(slots.cooling().map(({ id }) => id))
          if (one.do === 'take') {
            const before = slots.ownedBy(one.owner)
            try {
              const slot = slots.take(one.owner, one.shape)
              if (before !== undefined) expect(slot.id).toBe(before.id)
              else expect(cooling).not.toContain(slot.id)
              owned.set(one.owner, one.shape)
            } catch (error) {
              expect(error).toBeInstanceOf(SlotsExhausted)
            }
          } else if (one.do === 'release') {
            slots.release(one.owner)
            owned.delete(one.owner)
          } else if (one.do === 'reclaim') for (const { id } of slots.cooling()) slots.reclaim(id)
          else if (one.do === 'trim') slots.trim(['a'])
          else slots.grow(one.shape)

          const all = slots.slots
          expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
          expect(all.every(({ id }) => id < 12)).toBe(true)
          expect(new Map(all.flatMap((slot) => (slot.owner === null ? [] : [[slot.owner, slot.shape]])))).toEqual(owned)
          expect(table(12, all).slots).toEqual(all)
          expect(slots.cooling()).toEqual(all.filter(({ cooling }) => cooling))
          expect(slots.scarce().toSorted()).toEqual(all.length < 12 ? scarceOf(all) : [])
        }
      }),
    )
  })
})
