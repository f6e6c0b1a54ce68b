import { NO_MEMBER, type NodePool, SLOT_TABLE_SIZES } from '@spout/model'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editSlots, type SlotAssignment, type SlotMember } from './edit-slots.ts'
import { effectiveSlots } from './effective-slots.ts'
import { decodeSlots, encodeSlots, resizeSlots, slotTableSize } from './slot-table.ts'

const RUNS = byLength(30, 100)

const member = (id: number | string, weight = 1, backup = false): SlotMember => ({ id: `m${id}`, weight, backup })
const membersOf = (count: number): SlotMember[] => Array.from({ length: count }, (_, index) => member(index))

/** Member ids by slot. */
const owners = (assignment: SlotAssignment): (string | null)[] =>
  Array.from(decodeSlots(assignment.slots), (index) =>
    index === NO_MEMBER ? null : (assignment.members[index] ?? null),
  )
const countsOf = (served: readonly (string | null)[]): Map<string | null, number> => {
  const counts = new Map<string | null, number>()
  for (const id of served) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

/** The largest distance of a member's slots from its ideal share. */
function imbalance(assignment: SlotAssignment, wanted: readonly SlotMember[]): number {
  const counts = countsOf(owners(assignment))
  const ordinary = wanted.filter((one) => !one.backup)
  const total = ordinary.reduce((sum, one) => sum + one.weight, 0)
  if (total === 0) return 0
  return Math.max(
    ...ordinary.map((one) => Math.abs((counts.get(one.id) ?? 0) - (assignment.slots.size * one.weight) / total)),
  )
}

const wantedMembers = (most = 40): fc.Arbitrary<SlotMember[]> =>
  fc.uniqueArray(
    fc.record({
      id: fc.nat(60).map((id) => `m${id}`),
      weight: fc.oneof(fc.constant(1), fc.nat(256)),
      backup: fc.boolean(),
    }),
    { selector: (one) => one.id, maxLength: most },
  )

describe('a pool that refuses a part of its connections', () => {
  const weighted = (weights: readonly number[]) => poolOf(weights.map((weight, id) => member(id, weight)))
  const tableOf = (weights: readonly number[], refusedPercent: number, down: readonly number[] = []) => [
    ...effectiveSlots({ ...weighted(weights), refusedPercent }, new Set(down.map((id) => `m${id}`))),
  ]
  const refused = (table: readonly number[]) => table.flatMap((index, slot) => (index === NO_MEMBER ? [slot] : []))

  it('refuses that part of the slots of each member', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 256 }), { minLength: 1, maxLength: 30 }),
        fc.double({ min: 0.001, max: 100, noNaN: true }),
        (weights, percent) => {
          const table = tableOf(weights, percent)
          const count = refused(table).length
          const ideal = (table.length * percent) / 100
          expect(Math.abs(count - ideal)).toBeLessThanOrEqual(1)
          expect(count).toBeGreaterThan(0)
          if (percent < 100) expect(count).toBeLessThan(table.length)
          const whole = [...effectiveSlots(weighted(weights), new Set())]
          for (const index of weights.keys()) {
            const [left, all] = [table, whole].map((one) => one.filter((each) => each === index).length)
            expect(Math.abs(left! - all! * (1 - percent / 100))).toBeLessThanOrEqual(2)
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('refuses the same slots whoever is down, and some of them while less is refused', () => {
    const half = refused(tableOf([1, 1, 2], 50))
    expect(refused(tableOf([1, 1, 2], 50, [0]))).toEqual(half)
    expect(refused(tableOf([1, 1, 2], 50, [0, 1]))).toEqual(half)
    const fewer = refused(tableOf([1, 1, 2], 20))
    expect(fewer.every((slot) => half.includes(slot))).toBe(true)
    expect(refused(tableOf([1, 1, 2], 100))).toHaveLength(64)
  })
})

describe('slot tables', () => {
  it('are packed as little-endian 16-bit numbers', () => {
    const slots = new Uint16Array(64).fill(NO_MEMBER)
    slots[0] = 1
    slots[1] = 0x0203
    const table = encodeSlots(slots)
    expect([...Uint8Array.fromBase64(table.table).slice(0, 6)]).toEqual([1, 0, 3, 2, 0xff, 0xff])
    expect(decodeSlots(table)).toEqual(slots)
  })
  it('have one of the known sizes', () => {
    expect(() => encodeSlots(new Uint16Array(65))).toThrow(RangeError)
  })
  it.each([
    [0, 64],
    [1, 64],
    [4, 64],
    [5, 256],
    [16, 256],
    [17, 1024],
    [64, 1024],
    [65, 4096],
    [10_000, 4096],
  ])('for %i equal members have %i slots', (count, size) => {
    expect(slotTableSize([Array<number>(count).fill(1), []], null)).toBe(size)
  })
  it('grow for a light member', () => {
    expect(slotTableSize([[1, 256], []], null)).toBe(4096)
    expect(slotTableSize([[1, 10], []], null)).toBe(64)
  })
  it('shrink only when far too big', () => {
    expect(slotTableSize([[1, 1], []], 256)).toBe(256)
    expect(slotTableSize([[1], []], 256)).toBe(64)
    expect(slotTableSize([[], []], 4096)).toBe(64)
  })
  it('keep every flow where it was when they grow', () => {
    const small = decodeSlots(editSlots(null, membersOf(4)).slots)
    for (const size of SLOT_TABLE_SIZES) {
      const big = resizeSlots(small, size)
      const slotOf = (hash: number, slots: number): number => Number((BigInt(hash) * BigInt(slots)) >> 32n)
      fc.assert(
        fc.property(fc.nat(0xffffffff), (hash) => {
          expect(big[slotOf(hash, size)]).toBe(small[slotOf(hash, 64)])
        }),
      )
    }
  })
})

describe('editSlots', () => {
  it('assigns slots by weight, within one slot of the ideal share', () => {
    fc.assert(
      fc.property(wantedMembers(), (wanted) => {
        expect(imbalance(editSlots(null, wanted), wanted)).toBeLessThan(1)
      }),
      { numRuns: RUNS },
    )
  })

  it('moves no other flow when members leave, however many', () => {
    fc.assert(
      fc.property(wantedMembers(), fc.array(fc.nat(), { maxLength: 20 }), (wanted, leavers) => {
        let present = wanted
        let assignment = editSlots(null, present)
        for (const pick of leavers) {
          if (present.length < 2) break
          const leaver = present[pick % present.length]!
          present = present.filter((one) => one !== leaver)
          const before = assignment
          assignment = editSlots(before, present)
          expect(imbalance(assignment, present)).toBeLessThan(2)
          if (assignment.slots.size !== before.slots.size) continue
          const after = owners(assignment)
          const moved = owners(before).filter(
            (owner, slot) => owner !== leaver.id && owner !== null && after[slot] !== owner,
          )
          expect(moved).toEqual([])
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('keeps the balance and changes nothing twice over random edits', () => {
    fc.assert(
      fc.property(fc.array(wantedMembers(), { minLength: 1, maxLength: 12 }), (edits) => {
        let assignment: SlotAssignment | null = null
        for (const wanted of edits) {
          assignment = editSlots(assignment, wanted)
          expect(imbalance(assignment, wanted)).toBeLessThan(2)
          expect(editSlots(assignment, wanted)).toEqual(assignment)
          const ids: (string | null)[] = [...assignment.members]
          expect(new Set(ids.filter((id) => id !== null))).toEqual(new Set(wanted.map((one) => one.id)))
          const served = new Set(owners(assignment))
          const idle = new Set(wanted.filter((one) => one.backup || one.weight === 0).map((one) => one.id))
          expect(served.intersection(idle)).toEqual(new Set())
          expect(served.has(null)).toBe(!wanted.some((one) => !one.backup && one.weight > 0))
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('keeps indexes and uses freed ones again', () => {
    const three = editSlots(null, membersOf(3))
    expect(three.members).toEqual(['m0', 'm1', 'm2'])
    const without = editSlots(three, [member(0), member(2)])
    expect(without.members).toEqual(['m0', null, 'm2'])
    const joined = editSlots(without, [member(9), member(0), member(2), member(8)])
    expect(joined.members).toEqual(['m0', 'm9', 'm2', 'm8'])
    expect(editSlots(joined, [member(0)]).members).toEqual(['m0'])
  })

  it('takes slots evenly for a joining member, and moves no others', () => {
    const before = editSlots(null, membersOf(6))
    const after = editSlots(before, membersOf(7))
    const was = owners(before)
    const moved = owners(after).filter((id, slot) => id !== was[slot])
    expect(moved.length).toBe(36)
    expect(new Set(moved)).toEqual(new Set(['m6']))
    expect([...countsOf(owners(after)).values()].sort()).toEqual([36, 36, 36, 37, 37, 37, 37])
  })

  it('gives a returning member slots again, taking at most a share from each other', () => {
    const full = editSlots(null, membersOf(8))
    const without = editSlots(full, membersOf(8).slice(1))
    const again = editSlots(without, membersOf(8))
    expect([...countsOf(owners(again)).values()]).toEqual(Array<number>(8).fill(32))
    expect(again.members).toEqual(full.members)
  })

  it('gives a replacing member only the free slots', () => {
    const before = editSlots(null, membersOf(4))
    const after = editSlots(before, [...membersOf(4).slice(1), member('new')])
    expect(owners(after)).toEqual(owners(before).map((id) => (id === 'm0' ? 'mnew' : id)))
  })

  it('serves as many members as there are slots', () => {
    const assignment = editSlots(null, membersOf(10_000))
    expect(Math.max(...countsOf(owners(assignment)).values())).toBe(1)
    expect(editSlots(assignment, membersOf(10_000))).toEqual(assignment)
  })

  it('survives a table with invalid indexes', () => {
    const broken = encodeSlots(new Uint16Array(64).fill(777))
    expect(imbalance(editSlots({ members: ['m0'], slots: broken }, membersOf(2)), membersOf(2))).toBe(0)
  })
})

const poolOf = (
  wanted: readonly SlotMember[],
  panicThreshold = 0,
): Pick<NodePool, 'members' | 'slots' | 'panicThreshold'> => {
  const { members, slots } = editSlots(null, wanted)
  const byId = new Map(wanted.map((one) => [one.id, one]))
  return {
    slots,
    panicThreshold,
    members: members.map((id) =>
      id === null ? null : { ...byId.get(id)!, address: '10.0.0.1', port: 80, checkAddress: '10.0.0.1', checkPort: 80 },
    ),
  }
}

describe('effectiveSlots', () => {
  it('leaves the slots of healthy members alone and gives the others to healthy ones', () => {
    fc.assert(
      fc.property(wantedMembers(), fc.array(fc.nat(60)), (wanted, downIds) => {
        const pool = poolOf(wanted)
        const down = new Set(downIds.map((id) => `m${id}`))
        const base = decodeSlots(pool.slots!)
        const carrying = wanted.filter((one) => one.weight > 0 && !down.has(one.id))
        const ordinary = carrying.filter((one) => !one.backup)
        const allowed = new Set((ordinary.length > 0 ? ordinary : carrying).map((one) => one.id))
        const wrong = Array.from(effectiveSlots(pool, down)).filter((index, slot) => {
          if (allowed.size === 0) return index !== NO_MEMBER
          const owner = pool.members[base[slot]!]?.id
          if (owner !== undefined && allowed.has(owner)) return index !== base[slot]
          return !allowed.has(pool.members[index]?.id ?? '')
        })
        expect(wrong).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  it("is the pool's own table with every member up", () => {
    const pool = poolOf(membersOf(20))
    expect(effectiveSlots(pool, new Set())).toEqual(decodeSlots(pool.slots!))
  })

  it('does not depend on the order of failures', () => {
    const pool = poolOf(membersOf(20))
    expect(effectiveSlots(pool, new Set(['m3', 'm7']))).toEqual(effectiveSlots(pool, new Set(['m7', 'm3'])))
  })

  it('moves only the slots of a further failed member', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(19), { minLength: 1, maxLength: 8 }), (ids) => {
        const pool = poolOf(membersOf(20))
        const before = effectiveSlots(pool, new Set(ids.slice(1).map((id) => `m${id}`)))
        const after = effectiveSlots(pool, new Set(ids.map((id) => `m${id}`)))
        const failed = ids[0]!
        const moved = before.filter((index, slot) => index !== failed && after[slot] !== index)
        expect([...moved]).toEqual([])
      }),
      { numRuns: RUNS },
    )
  })

  it('spreads the slots of a down member by weight', () => {
    const wanted = [member(0, 100), member(1, 100), member(2, 200), ...membersOf(70).slice(3)]
    const pool = poolOf(wanted)
    const base = decodeSlots(pool.slots!)
    const gained = new Map<number, number>()
    effectiveSlots(pool, new Set(['m0'])).forEach((index, slot) => {
      if (base[slot] === 0) gained.set(index, (gained.get(index) ?? 0) + 1)
    })
    expect(gained.get(2)! / gained.get(1)!).toBeGreaterThan(1.5)
    expect(gained.get(2)! / gained.get(1)!).toBeLessThan(2.5)
  })

  it('uses backups only when all ordinary members are down', () => {
    const pool = poolOf([member(0), member(1), member('b', 1, true), member('c', 3, true)], 50)
    const idsWith = (...down: string[]): Set<string | undefined> =>
      new Set(Array.from(effectiveSlots(pool, new Set(down)), (index) => pool.members[index]?.id))
    expect(idsWith('m0')).toEqual(new Set(['m1']))
    expect(idsWith('m0', 'm1')).toEqual(new Set(['mb', 'mc']))
    expect(idsWith('m0', 'm1', 'mb')).toEqual(new Set(['mc']))
    expect(idsWith('m0', 'm1', 'mb', 'mc')).toEqual(new Set(['m0', 'm1']))
  })

  it.each([
    [50, 1, false],
    [50, 2, false],
    [50, 3, true],
    [50, 4, true],
    [0, 3, false],
    [100, 1, true],
  ])('with a panic threshold of %i %% and %i of 4 down ignores health: %s', (threshold, count, ignored) => {
    const pool = poolOf(membersOf(4), threshold)
    const down = new Set(membersOf(count).map((one) => one.id))
    const same = effectiveSlots(pool, down).every((index, slot) => index === decodeSlots(pool.slots!)[slot])
    expect(same).toBe(ignored)
  })

  it('has no member for any slot when all are down, and no slots for a proxied pool', () => {
    const pool = poolOf(membersOf(2))
    expect(new Set(effectiveSlots(pool, new Set(['m0', 'm1'])))).toEqual(new Set([NO_MEMBER]))
    expect(effectiveSlots({ ...pool, slots: null }, new Set())).toHaveLength(0)
  })

  it('gives a member in slow start a part of its slots, and takes none from others', () => {
    fc.assert(
      fc.property(
        wantedMembers(),
        fc.array(fc.nat(60)),
        fc.nat(),
        fc.integer({ min: 1, max: 99 }),
        (wanted, ids, pick, share) => {
          fc.pre(wanted.length > 0)
          const pool = poolOf(wanted)
          const down = new Set(ids.map((id) => `m${id}`))
          const riser = wanted[pick % wanted.length]!.id
          const index = pool.members.findIndex((one) => one?.id === riser)
          const whole = effectiveSlots(pool, down)
          const without = effectiveSlots(pool, new Set([...down, riser]))
          const rising = effectiveSlots(pool, down, new Map([[riser, share]]))
          const others = rising.filter((served, slot) => served !== whole[slot] && whole[slot] !== index)
          expect([...others]).toEqual([])
          expect(rising.includes(index)).toBe(whole.includes(index))
          // No slot is without a member, unless it would be so without the rising one.
          if (!without.includes(NO_MEMBER)) expect(rising.includes(NO_MEMBER)).toBe(false)
        },
      ),
    )
  })

  it('moves slots only to the member whose share grows', () => {
    const pool = poolOf(membersOf(5))
    let before = effectiveSlots(pool, new Set(), new Map([['m2', 1]]))
    expect(before.filter((index) => index === 2)).toHaveLength(1)
    for (let share = 2; share <= 100; share++) {
      const after = effectiveSlots(pool, new Set(), new Map([['m2', share]]))
      const moved = [...after].filter((index, slot) => index !== before[slot])
      expect(new Set(moved).isSubsetOf(new Set([2]))).toBe(true)
      before = after
    }
    expect(before).toEqual(decodeSlots(pool.slots!))
  })

  it('counts shares relatively: members that came up together have their whole shares', () => {
    const pool = poolOf(membersOf(3))
    const all = new Map([
      ['m0', 20],
      ['m1', 20],
      ['m2', 20],
    ])
    expect(effectiveSlots(pool, new Set(), all)).toEqual(decodeSlots(pool.slots!))
    expect(effectiveSlots(pool, new Set(['m0', 'm1']), new Map([['m2', 10]]))).toEqual(new Uint16Array(64).fill(2))
  })
})
