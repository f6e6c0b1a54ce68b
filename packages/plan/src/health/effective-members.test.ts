import { NO_MEMBER, type NodePool } from '@spout/model'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editSlots } from '../slots/edit-slots.ts'
import { effectiveSlots } from '../slots/effective-slots.ts'
import { decodeSlots } from '../slots/slot-table.ts'
import { effectiveDown, effectiveMembers } from './effective-members.ts'

type Wanted = { readonly id: string; readonly weight: number; readonly backup: boolean }

function poolOf(wanted: readonly Wanted[], panicThreshold = 0): Pick<NodePool, 'members' | 'slots' | 'panicThreshold'> {
  const { members, slots } = editSlots(null, wanted)
  const byId = new Map(wanted.map((member) => [member.id, member]))
  return {
    slots,
    panicThreshold,
    members: members.map((id) => {
      const member = id === null ? undefined : byId.get(id)
      return member === undefined
        ? null
        : { ...member, address: '10.0.0.1', port: 80, checkAddress: '10.0.0.1', checkPort: 80 }
    }),
  }
}

const member = (id: string, weight = 1, backup = false): Wanted => ({ id, weight, backup })
const four = ['a', 'b', 'c', 'd'].map((id) => member(id))

const anyPool = fc
  .tuple(
    fc.uniqueArray(fc.record({ id: fc.nat(20).map((id) => `m${id}`), weight: fc.nat(3), backup: fc.boolean() }), {
      selector: ({ id }) => id,
      maxLength: 12,
    }),
    fc.constantFrom(0, 30, 50, 100),
  )
  .map(([wanted, threshold]) => poolOf(wanted, threshold))
const anyDown = fc.uniqueArray(fc.nat(20).map((id) => `m${id}`)).map((ids) => new Set(ids))

describe('effectiveMembers', () => {
  it.each([
    [50, ['a', 'b'], ['c', 'd']],
    [50, ['a', 'b', 'c'], ['a', 'b', 'c', 'd']],
    [0, ['a', 'b', 'c'], ['d']],
    [0, ['a', 'b', 'c', 'd'], []],
    [1, ['a', 'b', 'c', 'd'], ['a', 'b', 'c', 'd']],
  ])('with threshold %i %% and %j down: %j', (threshold, down, up) => {
    expect([...effectiveMembers(poolOf(four, threshold), new Set(down))].sort()).toEqual(up)
  })

  it.each([
    [[], ['a']],
    [['a'], ['x', 'y']],
    [['a', 'x'], ['y']],
    [['a', 'x', 'y'], ['a']],
  ])('with backups and %j down: %j', (down, up) => {
    const pool = poolOf([member('a'), member('x', 1, true), member('y', 1, true)], 50)
    expect([...effectiveMembers(pool, new Set(down))].sort()).toEqual(up)
  })

  it('is the rule of the L4 data plane', () => {
    fc.assert(
      fc.property(anyPool, anyDown, (pool, down) => {
        const served = new Set(Array.from(effectiveSlots(pool, down)).filter((index) => index !== NO_MEMBER))
        const ids = new Set([...served].map((index) => pool.members[index]?.id))
        const effective = effectiveMembers(pool, down)
        expect(effective).toEqual(ids)
        expect(decodeSlots(pool.slots!).length).toBeGreaterThan(0)
      }),
    )
  })
})

describe('effectiveDown', () => {
  it('applied to its own result changes nothing', () => {
    fc.assert(
      fc.property(anyPool, anyDown, (pool, down) => {
        const once = effectiveDown(pool, down)
        expect(effectiveDown(pool, once)).toEqual(once)
      }),
    )
  })
})
