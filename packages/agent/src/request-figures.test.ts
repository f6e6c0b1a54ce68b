import type { CarriedRequest } from '@spout/dataplane'
import { countedLatencies, latencyBucketOf } from '@spout/model/latency-counts'
import { MOST_COUNTED_POOLS, MOST_COUNTED_ROUTES, OTHER_ROUTES } from '@spout/model/node-report'
import { expect, test } from 'vitest'
import { RequestFigures } from './request-figures.ts'
import { loadBalancerEntry } from './testing/entries.ts'

const [service] = loadBalancerEntry('lb').services
const [pool] = loadBalancerEntry('lb').pools
const entryWith = (latencies: boolean) =>
  loadBalancerEntry('lb', {
    services: ['web', 'other'].map((id) => ({
      ...service!,
      ...{ id, protocol: 'http', port: 80 },
      ...(latencies && id === 'web' ? { latencies: true as const } : {}),
    })),
    pools: [{ ...pool!, id: 'pool-1', number: 1 }],
  })
const request = (change: Partial<CarriedRequest> = {}): CarriedRequest => ({
  ...{
    listenerId: 'web',
    pool: 1,
    routeId: null,
    endedAtUs: 1,
    durationUs: 500,
    waitedMs: 0,
    status: 200,
    bytesIn: 1,
    bytesOut: 1,
  },
  ...{ client: { address: '192.0.2.1', port: 1 }, vip: { address: '192.0.2.2', port: 80 }, member: null },
  ...{ ending: '--', tlsVersion: null, serverName: null },
  http: { method: 'GET', uri: '/', version: '1.1', host: null, userAgent: null, referer: null },
  ...change,
})

test('durations are counted by listener and by its own pools, and what was no request is not', () => {
  const figures = new RequestFigures()
  figures.applied('lb', entryWith(true))
  // The last pool belongs to another load balancer.
  for (const change of [{}, { durationUs: 9_000 }, { pool: null }, { pool: 2 }]) figures.take(request(change))
  for (const change of [{ durationUs: null }, { http: null }, { listenerId: 'other' }, { listenerId: 'unknown' }])
    figures.take(request(change))
  const { all, parts } = figures.of('web')!
  expect(all).toEqual([
    [latencyBucketOf(500), 3],
    [latencyBucketOf(9_000), 1],
  ])
  expect(Object.keys(parts.pools)).toEqual(['pool-1'])
  expect(countedLatencies(parts.pools['pool-1']!.latencies)).toBe(2)
  expect(parts.pools['pool-1']!.responses).toMatchObject({ '2xx': 2, '5xx': 0 })
  expect(figures.of('other')).toBeNull()
})

test('they go on while the listener wants them, and are the same object until one is added', () => {
  const figures = new RequestFigures()
  figures.applied('lb', entryWith(true))
  figures.take(request())
  figures.applied('lb', entryWith(true))
  const { all } = figures.of('web')!
  expect(figures.of('web')!.all).toBe(all)
  figures.take(request())
  expect(countedLatencies(figures.of('web')!.all)).toBe(2)
  figures.applied('lb', entryWith(false))
  expect(figures.of('web')).toBeNull()
  figures.applied('lb', entryWith(true))
  expect(figures.of('web')!.all).toEqual([])
  figures.applied('lb', null)
  expect(figures.of('web')).toBeNull()
})

const routed = (ids: readonly string[]) => {
  const [web] = entryWith(true).services
  const routes = ids.map((id) => ({
    ...{ id, conditions: [], action: { type: 'forward' as const, pools: [{ pool: 1, weight: 1 }] } },
  }))
  return loadBalancerEntry('lb', { services: [{ ...web!, routes, routeFigures: true as const }] })
}

test('routes that had requests are counted by themselves, with their responses, while they are there', () => {
  const figures = new RequestFigures()
  figures.applied('lb', routed(['one', 'two', 'idle']))
  for (const change of [{ routeId: 'one' }, { routeId: 'one', status: 503 }, { routeId: 'two', durationUs: 9_000 }])
    figures.take(request(change))
  for (const routeId of ['of another listener', null]) figures.take(request({ routeId }))
  const { routes } = figures.of('web')!.parts
  expect(Object.keys(routes)).toEqual(['one', 'two'])
  expect(routes.one).toEqual({
    latencies: [[latencyBucketOf(500), 2]],
    responses: { '1xx': 0, '2xx': 1, '3xx': 0, '4xx': 0, '5xx': 1 },
  })
  figures.applied('lb', routed(['two']))
  expect(Object.keys(figures.of('web')!.parts.routes)).toEqual(['two'])
  figures.applied('lb', entryWith(true))
  figures.take(request({ routeId: 'two' }))
  expect(figures.of('web')!.parts.routes).toEqual({})
})

test('reports have the first pools alone', () => {
  const figures = new RequestFigures()
  const all = Array.from({ length: MOST_COUNTED_POOLS + 1 }, (_, at) => ({
    ...pool!,
    id: `pool-${at}`,
    number: at + 1,
  }))
  figures.applied('lb', { ...entryWith(true), pools: all })
  for (const { number } of all) figures.take(request({ pool: number }))
  const counters = { bytesIn: 0, bytesOut: 0, activeConnections: 0, totalConnections: 0, requestErrors: 0 }
  const responses = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 }
  const stats = { loadBalancerId: 'lb', listenerId: 'web', ...counters, http: { requests: 1, responses } }
  expect(Object.keys(figures.with(stats).http!.parts!.pools)).toHaveLength(MOST_COUNTED_POOLS)
  expect(Object.keys(figures.of('web')!.parts.pools)).toHaveLength(MOST_COUNTED_POOLS + 1)
})

test('beyond their number routes are counted together, and nothing is counted twice or not at all', () => {
  const ids = Array.from({ length: 3 * MOST_COUNTED_ROUTES }, (_, at) => `route-${at}`)
  const figures = new RequestFigures()
  figures.applied('lb', routed(ids))
  for (let round = 0; round < 2; round++) for (const routeId of ids) figures.take(request({ routeId }))
  const { routes } = figures.of('web')!.parts
  expect(Object.keys(routes)).toEqual([...ids.slice(0, MOST_COUNTED_ROUTES), OTHER_ROUTES])
  expect(routes['route-0']!.responses['2xx']).toBe(2)
  expect(routes[OTHER_ROUTES]!.responses['2xx']).toBe(2 * 2 * MOST_COUNTED_ROUTES)
  // A removed route makes room for another one.
  figures.applied('lb', routed(ids.slice(1)))
  figures.take(request({ routeId: ids.at(-1)! }))
  expect(figures.of('web')!.parts.routes[ids.at(-1)!]!.responses['2xx']).toBe(1)
})
