import { FakeClock } from '@spout/runtime/fake-clock'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Shares } from '../contracts/driver.ts'
import { domainEntry, member, pool, service, vip, wanted } from '../testing/entries.ts'
import { SlowStarts, shareAt } from './slow-start.ts'

const NONE: ReadonlySet<string> = new Set()
const SLOW_MS = 10_000

const entryOf = (ids: readonly string[], slowStartMs: number | null = SLOW_MS) =>
  wanted('a', domainEntry(1), {
    vips: [vip('10.9.0.100')],
    services: [service('l1', 80, 5)],
    pools: [
      pool(
        5,
        ids.map((id, n) => member(id, `10.0.0.${n + 1}`)),
        slowStartMs === null ? {} : { slowStartMs },
      ),
    ],
  }).entry

/** An agent that reads the shares again after each step. */
function follower() {
  const clock = new FakeClock()
  let entry = entryOf([])
  let down = NONE
  const seen: Shares[] = []
  const ask = () => seen.push(starts.shares(entry, down))
  const starts = new SlowStarts({ clock, onStep: () => ask() })
  return {
    clock,
    starts,
    seen,
    now: () => Object.fromEntries(seen.at(-1) ?? []),
    put: (next: typeof entry, nextDown: readonly string[] = []) => {
      entry = next
      down = new Set(nextDown)
      ask()
    },
  }
}

describe('shareAt', () => {
  it('begins with a tenth and grows to the whole in ten steps', () => {
    expect([0, 999, 1_000, 5_000, 9_999, 10_000, 99_999].map((at) => shareAt(at, SLOW_MS))).toEqual([
      10, 10, 19, 55, 91, 100, 100,
    ])
    fc.assert(
      fc.property(fc.nat(200_000), fc.nat(200_000), fc.integer({ min: 1, max: 3_600_000 }), (a, b, lasts) => {
        expect(shareAt(a, lasts)).toBeGreaterThanOrEqual(10)
        if (a <= b) expect(shareAt(a, lasts)).toBeLessThanOrEqual(shareAt(b, lasts))
      }),
    )
  })
})

describe('SlowStarts', () => {
  it('raises a member that comes back in steps, and no other', async () => {
    const { clock, put, now, seen } = follower()
    put(entryOf(['m1', 'm2']))
    expect(now()).toEqual({})
    put(entryOf(['m1', 'm2']), ['m2'])
    expect(now()).toEqual({})
    await clock.advance(60_000)
    const before = seen.length
    put(entryOf(['m1', 'm2']))
    expect(now()).toEqual({ m2: 10 })
    await clock.advance(SLOW_MS / 2)
    expect(now()).toEqual({ m2: 55 })
    await clock.advance(SLOW_MS / 2)
    expect(now()).toEqual({})
    expect(seen.length - before).toBe(11)
    expect(clock.timers).toBe(0)
  })

  it('raises a member that joins, and starts again when it goes down again', async () => {
    const { clock, put, now } = follower()
    put(entryOf(['m1']))
    put(entryOf(['m1', 'm2']))
    await clock.advance(3_000)
    expect(now()).toEqual({ m2: 37 })
    put(entryOf(['m1', 'm2']), ['m2'])
    expect(now()).toEqual({})
    put(entryOf(['m1', 'm2']))
    expect(now()).toEqual({ m2: 10 })
  })

  it('gives the same object while nothing changes', () => {
    const { put, seen } = follower()
    put(entryOf(['m1']))
    put(entryOf(['m1']))
    expect(seen[1]).toBe(seen[0])
  })

  it('does not apply to existing members of a pool that gets one, or to pools without one', async () => {
    const clock = new FakeClock()
    const starts = new SlowStarts({ clock, onStep: () => {} })
    const plain = entryOf(['m1', 'm2'], null)
    expect(starts.shares(plain, NONE).size).toBe(0)
    expect([...starts.shares(entryOf(['m1', 'm2', 'm3']), NONE, plain)]).toEqual([['m3', 10]])
    expect(starts.shares(plain, NONE).size).toBe(0)
    expect(starts.shares(entryOf(['m1', 'm2', 'm3']), new Set(), entryOf(['m1', 'm2', 'm3'])).size).toBe(0)
  })

  it('starts with full shares, except for members that are down', () => {
    const { put, now } = follower()
    put(entryOf(['m1', 'm2']), ['m2'])
    put(entryOf(['m1', 'm2']))
    expect(now()).toEqual({ m2: 10 })
  })

  it('continues after a restart, and does not restart for members that were up', async () => {
    const { clock, starts, put, now } = follower()
    starts.restore(entryOf(['m1', 'm2', 'm3']), new Set(['m3']), new Map([['m2', 55]]))
    put(entryOf(['m1', 'm2', 'm3']), ['m3'])
    expect(now()).toEqual({ m2: 55 })
    await clock.advance(1_000)
    expect(now()).toEqual({ m2: 64 })
    put(entryOf(['m1', 'm2', 'm3']))
    expect(now()).toEqual({ m2: 64, m3: 10 })
    await clock.advance(4_000)
    expect(now()).toEqual({ m3: 46 })
  })
})
