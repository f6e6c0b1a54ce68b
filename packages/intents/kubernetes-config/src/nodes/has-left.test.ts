import { expect, it } from 'vitest'
import { DEPARTURE_WITHIN_MS, hasLeft, type LeavingNode } from './has-left.ts'

const SINCE = '2026-01-01T12:00:00Z'
const node = (more: Partial<LeavingNode> = {}, status: Partial<LeavingNode['status']> = {}): LeavingNode => ({
  ...{ scheduling: 'draining', drainedSince: SINCE },
  status: { connection: 'connected', departure: { since: SINCE, busyProxies: 0 }, ...status },
  ...more,
})

it('a node has left once it drains, has no addresses, and its proxies have no clients', () => {
  expect(hasLeft(node(), 0, 0)).toBe(true)
  expect(hasLeft(node(), 1, 60_000)).toBe(false)
  expect(hasLeft(node({ scheduling: 'enabled' }), 0, 60_000)).toBe(false)
  for (const busyProxies of [1, null])
    expect(hasLeft(node({}, { departure: { since: SINCE, busyProxies } }), 0, 60_000)).toBe(false)
})

it('a silent node has not: nobody knows what it has', () => {
  expect(hasLeft(node({}, { connection: 'disconnected' }), 0, 60_000)).toBe(false)
  expect(hasLeft(node({}, { connection: 'never' }), 0, 60_000)).toBe(false)
})

it('a report about this drain is waited for, but not for ever', () => {
  for (const departure of [null, { since: '2025-12-31T12:00:00Z', busyProxies: 0 }]) {
    expect(hasLeft(node({}, { departure }), 0, DEPARTURE_WITHIN_MS - 1)).toBe(false)
    expect(hasLeft(node({}, { departure }), 0, DEPARTURE_WITHIN_MS)).toBe(true)
  }
})
