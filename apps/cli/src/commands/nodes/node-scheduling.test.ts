import { expect, it } from 'vitest'
import { stillServed } from './node-scheduling.ts'

const SINCE = '2026-01-01T00:00:00.000Z'
const served = (departure: object | null, early = false) =>
  stillServed({ drainedSince: SINCE, status: { departure } }, early)

it('lists clients still connected to the proxies of a drained node', () => {
  expect(served({ since: SINCE, busyProxies: null })).toBe('clients of its proxies')
  expect(served({ since: SINCE, busyProxies: 2 })).toBe('clients of 2 proxies')
  expect(served({ since: SINCE, busyProxies: 0 })).toBeNull()
})

it('waits at first for a node that has not said that it heard of the drain', () => {
  for (const departure of [null, { since: '2025-12-31T00:00:00.000Z', busyProxies: 0 }]) {
    expect(served(departure, true)).toBe('clients of its proxies')
    expect(served(departure)).toBeNull()
  }
})
