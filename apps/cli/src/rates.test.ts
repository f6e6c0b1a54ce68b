import { type LatencyCounts, latencyBucketOf } from '@spout/model/latency-counts'
import { describe, expect, it } from 'vitest'
import { bytesText, countsOf, quantileText, ratesOf, rateText, requestCounts } from './rates.ts'

const stats = (listenerId: string, connections: number, requests?: number) => ({
  ...{ loadBalancerId: 'lb', listenerId, bytesIn: 10 * connections, bytesOut: 20 * connections },
  ...{ activeConnections: 2, totalConnections: connections, requestErrors: 1 },
  ...(requests === undefined
    ? {}
    : { http: { requests, responses: { '1xx': 0, '2xx': requests - 3, '3xx': 0, '4xx': 2, '5xx': 1 } } }),
})

describe('counters', () => {
  it('are those of all listeners; one that reads no requests has connections alone', () => {
    expect(countsOf([stats('web', 5, 40), stats('db', 7)])).toEqual({
      ...{ open: 4, connections: 12, requests: 40, bytesIn: 120, bytesOut: 240, errors: 5 },
      latencies: [],
      responses: { '1xx': 0, '2xx': 37, '3xx': 0, '4xx': 2, '5xx': 1 },
    })
    expect(countsOf([])).toMatchObject({ open: 0, connections: 0, requests: 0 })
  })
})

describe('requests of a pool', () => {
  it('are those of all listeners that use it', () => {
    const of = (ok: number, failed: number) => ({
      latencies: [[20, ok + failed]] as const,
      responses: { '1xx': 0, '2xx': ok, '3xx': 0, '4xx': failed, '5xx': failed },
    })
    expect(requestCounts([of(3, 1), of(5, 0)])).toMatchObject({ requests: 9, errors: 2, latencies: [[20, 9]], open: 0 })
  })
})

describe('latencies', () => {
  const timed = (latencies: LatencyCounts) => {
    const web = stats('web', 1, 10)
    return countsOf([{ ...web, http: { ...web.http!, latencies } }, stats('db', 7)])
  }

  it('are those between two samples', () => {
    const [before, after] = [
      { atMs: 0, counts: new Map([['lb', timed([[100, 5]])]]) },
      {
        atMs: 1000,
        counts: new Map([
          [
            'lb',
            timed([
              [100, 6],
              [120, 1],
            ]),
          ],
        ]),
      },
    ]
    expect(ratesOf('lb', before!, after!)?.latencies).toEqual([
      [100, 1],
      [120, 1],
    ])
  })

  it('are told as quantiles', () => {
    const took = (us: number): LatencyCounts => [[latencyBucketOf(us), 1]]
    expect([3, 870, 4_200, 130_000, 2_400_000].map((us) => quantileText(took(us), 0.5))).toEqual([
      ...['3 us', '864 us', '4.4 ms', '127 ms', '2.5 s'],
    ])
    expect(quantileText([], 0.99)).toBe('-')
  })
})

describe('rates', () => {
  const at = (atMs: number, connections: number, requests: number) => ({
    atMs,
    counts: new Map([['lb', countsOf([stats('web', connections, requests)])]]),
  })

  it('are per second between two samples', () => {
    expect(ratesOf('lb', at(1000, 10, 100), at(3000, 14, 150))).toMatchObject({
      ...{ open: 2, connections: 2, requests: 25, bytesIn: 20, bytesOut: 40, errors: 0 },
      responses: { '2xx': 25, '5xx': 0 },
    })
  })

  it('are never negative, and zero for one that is new', () => {
    expect(ratesOf('lb', at(1000, 10, 100), at(2000, 4, 50))).toMatchObject({ connections: 0, requests: 0 })
    expect(ratesOf('lb', { atMs: 1000, counts: new Map() }, at(2000, 4, 50))).toMatchObject({ requests: 0, open: 2 })
    expect(ratesOf('gone', at(1000, 1, 5), at(2000, 1, 5))).toBeNull()
  })
})

it.each([
  [0, '0'],
  [0.24, '0.2'],
  [9.96, '10.0'],
  [1234.5, '1235'],
])('%d a second is %s', (rate, text) => expect(rateText(rate)).toBe(text))

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [4700, '4.7 kB'],
  [123_456_789, '123 MB'],
  [1.2e18, '1200 PB'],
])('%d bytes are %s', (bytes, text) => expect(bytesText(bytes)).toBe(text))
