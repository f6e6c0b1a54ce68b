import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, describe, expect, it } from 'vitest'
import { PROBE_LIMITS, ProbeGate, type ProbeLimits } from './probe-gate.ts'

let clock: FakeClock
let begun: string[]
let ends: (() => void)[]
const never = new AbortController().signal

beforeEach(() => {
  clock = new FakeClock()
  begun = []
  ends = []
})

const gateOf = (change: Partial<ProbeLimits>): ProbeGate => new ProbeGate(clock, { ...PROBE_LIMITS, ...change })

/** A probe that lasts until `ends` resolves. */
const ask = (gate: ProbeGate, owner: string, target: string, signal = never): Promise<string | null> =>
  gate.pass(
    { owner, target },
    () => {
      begun.push(`${owner} ${target}`)
      return new Promise<string>((resolve) => ends.push(() => resolve(target)))
    },
    signal,
  )
const of = (owner: string): number => begun.filter((one) => one.startsWith(`${owner} `)).length
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('places', () => {
  it('each owner has places of its own when all common ones are taken', async () => {
    const gate = gateOf({ most: 10, mostOfOwner: 8, ownShare: 2 })
    for (let n = 0; n < 100; n++) void ask(gate, 'greedy', `${n}`)
    for (let n = 0; n < 100; n++) void ask(gate, 'second', `${n}`)
    await settled()
    expect([of('greedy'), of('second')]).toEqual([8, 2])
    for (let n = 0; n < 3; n++) void ask(gate, 'quiet', `${n}`)
    await settled()
    expect(of('quiet')).toBe(2)
    expect(gate.delayed).toBeGreaterThan(0)
  })

  it('free places are given in turns', async () => {
    const gate = gateOf({ most: 4, mostOfOwner: 4, ownShare: 0 })
    for (const owner of ['a', 'b']) for (let n = 0; n < 50; n++) void ask(gate, owner, `${n}`)
    await settled()
    for (let n = 0; n < 20; n++) {
      ends[n]?.()
      await settled()
    }
    expect(Math.abs(of('b') - (of('a') - 4))).toBeLessThanOrEqual(1)
  })

  it('an abort frees the place at once, and a waiting probe is forgotten', async () => {
    const gate = gateOf({ most: 1, mostOfOwner: 1, ownShare: 1 })
    const gone = new AbortController()
    const first = ask(gate, 'a', 'silent', gone.signal)
    const second = ask(gate, 'a', 'waits', gone.signal)
    const third = ask(gate, 'a', 'next')
    await settled()
    expect(begun).toEqual(['a silent'])
    gone.abort()
    expect([await first, await second]).toEqual([null, null])
    await settled()
    expect(begun).toEqual(['a silent', 'a next'])
    ends[1]?.()
    expect(await third).toBe('next')
  })
})

describe('rates', () => {
  it('the rate of one owner is limited, and others are not slowed', async () => {
    const gate = gateOf({ perSecond: 10 })
    const all = Array.from({ length: 30 }, (_, n) => ask(gate, 'a', `${n}`))
    await settled()
    expect(of('a')).toBe(10)
    void ask(gate, 'b', '1')
    await settled()
    expect(of('b')).toBe(1)
    await clock.advance(1000)
    expect(of('a')).toBe(20)
    await clock.advance(1000)
    expect(of('a')).toBe(30)
    for (const end of ends) end()
    await Promise.all(all)
    gate.close()
  })

  it('the rate to one endpoint is limited over all pools, and does not delay the next ones', async () => {
    const gate = gateOf({ perSecondOfTarget: 5 })
    for (let n = 0; n < 20; n++) void ask(gate, 'a', 'one')
    void ask(gate, 'a', 'other')
    await clock.advance(100)
    expect(begun.filter((each) => each === 'a one')).toHaveLength(5)
    expect(begun).toContain('a other')
    await clock.advance(1000)
    expect(begun.filter((each) => each === 'a one')).toHaveLength(10)
    gate.close()
  })
})
