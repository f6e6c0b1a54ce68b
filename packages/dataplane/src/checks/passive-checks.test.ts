import type { NodePool, PassiveSpec } from '@spout/model/node-state'
import { FakeClock } from '@spout/runtime/fake-clock'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MemberTraffic } from '../contracts/driver.ts'
import { domainEntry, member, pool, wanted } from '../testing/entries.ts'
import { type CheckRecord, mayTakeOut, nextStreak, PassiveChecks, type Streak } from './passive-checks.ts'

const passive: PassiveSpec = { on: 'connection', failures: 5, holdMs: 10_000, maxDownPercent: 50 }
const spec = { type: 'tcp', intervalMs: 1_000, timeoutMs: 500, rise: 2, fall: 3, http: null } as const
const counted = (change: Partial<MemberTraffic> = {}): MemberTraffic => ({
  key: 'lb/a',
  poolId: 'pool-5',
  memberId: 'm1',
  connected: 0,
  notConnected: 0,
  answered: 0,
  badAnswers: 0,
  ...change,
})

describe('nextStreak', () => {
  it('counts failures until a success', () => {
    const sample = fc.record({
      connected: fc.nat(3),
      notConnected: fc.nat(3),
      answered: fc.nat(3),
      badAnswers: fc.nat(3),
    })
    fc.assert(
      fc.property(fc.array(sample), fc.constantFrom('connection', 'response'), (steps, on) => {
        let seen = counted()
        let streak: Streak = nextStreak(undefined, seen, on)
        let expected = 0
        for (const step of steps) {
          seen = {
            ...seen,
            connected: seen.connected + step.connected,
            notConnected: seen.notConnected + step.notConnected,
            answered: seen.answered + step.answered,
            badAnswers: seen.badAnswers + step.badAnswers,
          }
          const good = on === 'connection' ? step.connected : step.answered
          const bad = step.notConnected + (on === 'connection' ? 0 : step.badAnswers)
          expected = good > 0 ? 0 : expected + bad
          streak = nextStreak(streak, seen, on)
          expect(streak.failures).toBe(expected)
        }
      }),
    )
  })

  it('starts again with a new process', () => {
    const before = { seen: counted({ notConnected: 90 }), failures: 4 }
    expect(nextStreak(before, counted({ notConnected: 3 }), 'connection').failures).toBe(0)
  })
})

describe('mayTakeOut', () => {
  const of = (count: number, change: Partial<NodePool> = {}) =>
    pool(
      5,
      Array.from({ length: count }, (_, n) => member(`m${n}`, `10.0.0.${n + 1}`)),
      change,
    )
  it.each([
    [1, [], 100, false],
    [2, [], 100, true],
    [2, ['m0'], 100, false],
    [2, [], 50, true],
    [2, [], 49, false],
    [3, [], 50, true],
    [3, ['m0'], 50, false],
    [4, ['m0'], 50, true],
    [10, ['m0', 'm1', 'm2', 'm3', 'm4'], 50, false],
  ])('of %i members with %j down and at most %i %%: %s', (count, down, percent, may) => {
    expect(mayTakeOut(of(count), new Set(down), `m${count - 1}`, percent)).toBe(may)
  })
  it('never brings a pool to the panic threshold, and skips backups and members of weight 0', () => {
    expect(mayTakeOut(of(2, { panicThreshold: 60 }), new Set(), 'm0', 100)).toBe(false)
    const spare = pool(5, [member('a', '10.0.0.1'), member('b', '10.0.0.2'), member('x', '10.0.0.3', { backup: true })])
    expect(mayTakeOut(spare, new Set(), 'x', 100)).toBe(false)
    expect(mayTakeOut(spare, new Set(), 'gone', 100)).toBe(false)
  })
})

function setUp(change: Partial<NodePool> = {}, count = 2) {
  const clock = new FakeClock()
  const down = new Set<string>()
  const records = new Map<string, CheckRecord>()
  const told: string[] = []
  const members = Array.from({ length: count }, (_, n) => member(`m${n + 1}`, `10.0.0.${n + 1}`))
  const entry = (more: Partial<NodePool> = {}) =>
    wanted('a', domainEntry(1), { pools: [pool(5, members, { passive, check: spec, ...change, ...more })] }).entry
  const checks = new PassiveChecks({
    clock,
    down: () => down,
    checked: (_, id) => records.get(id) ?? null,
    onChange: (_, { memberId }, held) => told.push(`${memberId} ${held === null ? 'in' : held.reason}`),
  })
  checks.put('lb/a', entry())
  return { clock, down, records, told, checks, entry }
}

describe('PassiveChecks', () => {
  it('takes a member out after so many failures, and lets it in when its check succeeds again', async () => {
    const { clock, records, told, checks } = setUp()
    records.set('m1', { successes: 7, inRow: 7 })
    checks.take([counted()])
    checks.take([counted({ notConnected: 4 })])
    expect(told).toEqual([])
    checks.take([counted({ notConnected: 6 })])
    expect(told).toEqual(['m1 6 connections in a row failed'])
    expect([...checks.held('lb/a').keys()]).toEqual(['m1'])
    // Its check succeeds all the while, but the hold is not over.
    records.set('m1', { successes: 9, inRow: 9 })
    await clock.advance(9_999)
    expect(told).toHaveLength(1)
    await clock.advance(1)
    expect(told).toEqual(['m1 6 connections in a row failed', 'm1 in'])
    expect(clock.timers).toBe(0)
    // Earlier counts are forgotten.
    checks.take([counted({ notConnected: 9 })])
    checks.take([counted({ notConnected: 13 })])
    expect(checks.held('lb/a').size).toBe(0)
  })

  it('keeps it out until the check has succeeded as often as a rise asks for', async () => {
    const { clock, records, told, checks } = setUp()
    records.set('m1', { successes: 7, inRow: 7 })
    checks.take([counted()])
    checks.take([counted({ notConnected: 5 })])
    records.set('m1', { successes: 8, inRow: 1 })
    await clock.advance(60_000)
    expect(told).toHaveLength(1)
    records.set('m1', { successes: 9, inRow: 2 })
    await clock.advance(1_000)
    expect(told.at(-1)).toBe('m1 in')
  })

  it('leaves it to its check when that finds it down', async () => {
    const { clock, down, records, told, checks } = setUp()
    records.set('m1', { successes: 7, inRow: 7 })
    checks.take([counted()])
    checks.take([counted({ notConnected: 5 })])
    records.set('m1', { successes: 7, inRow: 0 })
    down.add('m1')
    await clock.advance(10_000)
    expect(told.at(-1)).toBe('m1 in')
  })

  it('returns it after a time if it has no check', async () => {
    const { clock, told, checks } = setUp({ check: null })
    checks.take([counted()])
    checks.take([counted({ notConnected: 5 })])
    await clock.advance(10_000)
    expect(told).toEqual(['m1 5 connections in a row failed', 'm1 in'])
  })

  it('never takes out more members than allowed', () => {
    const { told, checks } = setUp({}, 3)
    const all = ['m1', 'm2', 'm3']
    checks.take(all.map((memberId) => counted({ memberId })))
    checks.take(all.map((memberId) => counted({ memberId, notConnected: 50 })))
    expect(told).toEqual(['m1 50 connections in a row failed'])
  })

  it('is not affected by bad requests while others succeed', () => {
    const { told, checks } = setUp({ passive: { ...passive, on: 'response' } })
    let answered = 0
    for (let badAnswers = 0; badAnswers < 10_000; badAnswers += 100)
      checks.take([counted({ connected: badAnswers, badAnswers, answered: ++answered })])
    expect(told).toEqual([])
    checks.take([counted({ connected: 20_000, badAnswers: 10_100, answered })])
    expect(told).toEqual(['m1 200 requests in a row failed'])
  })

  it('lets all members in when it is disabled, and then watches nothing', () => {
    const { clock, told, checks, entry } = setUp()
    checks.take([counted()])
    checks.take([counted({ notConnected: 5 })])
    checks.put('lb/a', entry({ passive: undefined }))
    expect(told.at(-1)).toBe('m1 in')
    expect(checks.isWatching).toBe(false)
    checks.take([counted({ notConnected: 500 })])
    checks.close()
    expect(told).toHaveLength(2)
    expect(clock.timers).toBe(0)
  })
})
