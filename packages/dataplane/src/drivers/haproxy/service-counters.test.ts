import { describe, expect, it } from 'vitest'
import { ServiceCounters } from './service-counters.ts'

const counted = (total: number, current = 0) => ({ current, total, bytesIn: total, bytesOut: total, requestErrors: 0 })
const sample = (slot: number, total: number, current = 0) => new Map([[slot, counted(total, current)]])

describe('ServiceCounters', () => {
  it('go on over a restart of the process', () => {
    const counters = new ServiceCounters()
    counters.take(sample(3, 10, 4))
    expect(counters.of('s', 3)).toEqual(counted(10, 4))
    counters.restart([['s', 3]])
    expect(counters.of('s', 3)).toEqual(counted(10))
    counters.take(sample(3, 5, 1))
    expect(counters.of('s', 3)).toEqual(counted(15, 1))
    counters.restart([['s', 3]])
    expect(counters.of('s', 3)).toEqual(counted(15))
  })

  it('begin at zero in a slot that somebody else had', () => {
    const counters = new ServiceCounters()
    counters.take(sample(3, 10))
    // Asked while nobody had it.
    counters.begin([3], sample(3, 11))
    expect(counters.of('next', 3)).toEqual(counted(0))
    counters.take(sample(3, 13))
    expect(counters.of('next', 3)).toEqual(counted(2))
    expect(new ServiceCounters(counters.baselines).of('next', 3)).toEqual(counted(0))
  })

  it('are forgotten with their service', () => {
    const counters = new ServiceCounters()
    counters.take(sample(3, 10))
    counters.restart([['s', 3]])
    counters.forget('s')
    expect(counters.of('s', 3)).toEqual(counted(0))
  })
})
