import { expect, it } from 'vitest'
import { stillHeld, stillServed } from './node-scheduling.ts'

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

it('says that the cluster keeps a node out of use, when it does', () => {
  const node = { name: 'worker1', scheduling: 'draining', clusterScheduling: { reason: 'condition Ready is Unknown' } }
  expect(stillHeld(node, 'enabled')).toBe(
    'worker1 stays draining for its Kubernetes cluster: condition Ready is Unknown. It will be enabled when that ends.',
  )
  expect(stillHeld({ name: 'worker1', scheduling: 'enabled' }, 'enabled')).toBeNull()
})
