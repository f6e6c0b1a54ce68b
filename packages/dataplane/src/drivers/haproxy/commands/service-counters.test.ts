import { describe, expect, it } from 'vitest'
import { ServiceCounters } from './service-counters.ts'

const counted = (total: number, current = 0) => ({
  ...{ current, total, bytesIn: total, bytesOut: total, requestErrors: 0, requests: 2 * total },
  ...{ '1xx': 0, '2xx': total, '3xx': 0, '4xx': total, '5xx': 0 },
})
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
    // The slot counted a request while it had no owner.
    counters.begin([3], sample(3, 11))
    expect(counters.of('next', 3)).toEqual(counted(0))
    counters.take(sample(3, 13))
    expect(counters.of('next', 3)).toEqual(counted(2))
    expect(new ServiceCounters(counters.baselines).of('next', 3)).toEqual(counted(0))
  })

  it('are zero where an earlier agent noted none for the slot', () => {
    const { requests: _, '2xx': __, ...noted } = counted(11)
    const counters = new ServiceCounters([[3, noted as ReturnType<typeof counted>]])
    counters.take(sample(3, 13))
    expect(counters.of('s', 3)).toEqual({ ...counted(2), requests: 0, '2xx': 0 })
  })

  it('are forgotten with their service', () => {
    const counters = new ServiceCounters()
    counters.take(sample(3, 10))
    counters.restart([['s', 3]])
    counters.forget('s')
    expect(counters.of('s', 3)).toEqual(counted(0))
  })
})
