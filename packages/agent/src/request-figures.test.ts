import type { CarriedRequest } from '@spout/dataplane'
import { countedLatencies, latencyBucketOf } from '@spout/model/latency-counts'
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
  ...{ listenerId: 'web', pool: 1, endedAtUs: 1, durationUs: 500, waitedMs: 0, status: 200, bytesIn: 1, bytesOut: 1 },
  ...{ client: { address: '192.0.2.1', port: 1 }, vip: { address: '192.0.2.2', port: 80 }, member: null },
  ...{ ending: '--', tlsVersion: null, serverName: null },
  http: { method: 'GET', uri: '/', version: '1.1', host: null, userAgent: null, referer: null },
  ...change,
})

test('durations are counted by listener and by its own pools, and what was no request is not', () => {
  const figures = new RequestFigures()
  figures.applied('lb', entryWith(true))
  // The last pool is of another load balancer.
  for (const change of [{}, { durationUs: 9_000 }, { pool: null }, { pool: 2 }]) figures.take(request(change))
  for (const change of [{ durationUs: null }, { http: null }, { listenerId: 'other' }, { listenerId: 'unknown' }])
    figures.take(request(change))
  const { all, pools } = figures.of('web')!
  expect(all).toEqual([
    [latencyBucketOf(500), 3],
    [latencyBucketOf(9_000), 1],
  ])
  expect([...pools.keys()]).toEqual(['pool-1'])
  expect(countedLatencies(pools.get('pool-1')!)).toBe(2)
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
