import { type LocalReport, MOST_LOCAL } from '@spout/model/local-report'
import { SHARE_NAMES } from '@spout/model/node-report'
import { expect, test } from 'vitest'
import { nodeReport } from './node-report-schema.ts'

const report = {
  session: 's',
  sequence: 1,
  entries: [],
  removed: [],
  members: [],
  stats: [],
  inSync: true,
  features: [],
}

test('every share can be told of: a report that is refused makes its node look dead', () => {
  const overShares = SHARE_NAMES.map((share) => ({ domain: 1, share, limit: 10 }))
  expect(nodeReport.parse({ ...report, overShares }).overShares).toEqual(overShares)
})

test('requests by pool and by route are bounded', () => {
  const counts = {
    latencies: [[20, 3]],
    responses: { '1xx': 0, '2xx': 3, '3xx': 0, '4xx': 0, '5xx': 0 },
  }
  const stats = (routes: number) => {
    const parts = {
      pools: { pool: counts },
      routes: Object.fromEntries(Array.from({ length: routes }, (_, at) => [`route-${at}`, counts])),
    }
    const http = { requests: 3, responses: counts.responses, latencies: counts.latencies, parts }
    const counters = { bytesIn: 0, bytesOut: 0, activeConnections: 0, totalConnections: 0, requestErrors: 0 }
    return [{ loadBalancerId: 'lb', listenerId: 'web', ...counters, http }]
  }
  expect(nodeReport.parse({ ...report, stats: stats(101) }).stats).toEqual(stats(101))
  expect(nodeReport.safeParse({ ...report, stats: stats(102) }).error?.message).toContain('has more than 101')
})

test('what a node carries by its own settings is bounded, and its name and addresses are none of a hostile text', () => {
  const own: LocalReport = {
    ...{ name: 'api-server', address: '192.0.2.10', port: 6443, state: 'programmed', message: null, isOwner: true },
    check: { type: 'tcp', path: null, intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 },
    members: [{ address: '192.0.2.11', port: 6443, health: 'up', reason: null, since: '2026-01-01T00:00:00.000Z' }],
    counters: null,
  }
  const parse = (local: readonly object[]) => nodeReport.safeParse({ ...report, local })
  expect(parse([own]).data?.local).toEqual([own])
  expect(parse(Array.from({ length: MOST_LOCAL }, () => own)).success).toBe(true)
  expect(parse(Array.from({ length: MOST_LOCAL + 1 }, () => own)).success).toBe(false)
  for (const wrong of [{ name: 'a b' }, { name: '../x' }, { address: '192.0.2.010' }, { port: 0 }, { counters: {} }])
    expect(parse([{ ...own, ...wrong }]).success).toBe(false)
})
