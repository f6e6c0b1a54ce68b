import type { PoolFigures, TrafficFigures } from '@spout/dataplane'
import { type LatencyCounts, latencyBucketOf } from '@spout/model/latency-counts'
import { FakeClock } from '@spout/runtime/fake-clock'
import { describe, expect, test } from 'vitest'
import { LoadBalancerMetrics } from './load-balancer-metrics.ts'
import { metricsText } from './metrics-text.ts'
import { loadBalancerEntry, memberEntry } from './testing/entries.ts'

const responses = (ok: number, failed: number) => ({ '1xx': 0, '2xx': ok, '3xx': 0, '4xx': 0, '5xx': failed })
const traffic = (total: number): TrafficFigures => ({
  ...{ current: 1, queued: 0, total, bytesIn: 100 * total, bytesOut: 1000 * total },
  ...{ connectionErrors: 3, responseErrors: 2, retries: 4, redispatches: 1, responses: responses(total, 2) },
  ...{ queueMs: 0, connectMs: 1, responseMs: 20, totalMs: 21.5 },
})

const [service] = loadBalancerEntry('lb').services
const ENTRY = loadBalancerEntry('lb', {
  services: [
    { ...service!, id: 'web', protocol: 'http', port: 80, pool: 1, connectionLimit: 500 },
    { ...service!, id: 'dns', protocol: 'udp', port: 53, pool: 2 },
    { ...service!, id: 'figures', protocol: 'metrics', port: 9100, pool: null },
  ],
  pools: (['http', 'l4'] as const).map((mode, index) => ({
    ...{ id: `pool-${mode}`, number: index + 1, mode, algorithm: 'round-robin', sourceAffinity: false },
    ...{ proxyProtocol: 'none', slots: null, check: null, panicThreshold: 0 },
    members: [memberEntry(`${mode}-a`, '10.0.0.11'), null, { ...memberEntry(`${mode}-b`, '10.0.0.12'), backup: true }],
  })),
})
const counted = (listenerId: string, connections: number, loadBalancerId = 'lb') => ({
  ...{ loadBalancerId, listenerId, bytesIn: 10 * connections, bytesOut: 20 * connections },
  ...{ activeConnections: 2, totalConnections: connections, requestErrors: 1 },
})
const WEB = { ...counted('web', 7), http: { requests: 21, responses: responses(20, 1) } }
/** 0.4 ms, three of 20 ms, 100 s. */
const LATENCIES: LatencyCounts = [400, 20_000, 100_000_000].map((us, at) => [latencyBucketOf(us), at === 1 ? 3 : 1])
const POOL: PoolFigures = { poolId: 'pool-http', ...traffic(30), members: new Map([['http-a', traffic(30)]]) }

describe('figures in the Prometheus text format', () => {
  test('of listeners, pools and members', async () => {
    const text = metricsText({
      entry: ENTRY,
      stats: new Map([WEB, counted('dns', 5)].map((one) => [one.listenerId, one])),
      pools: [POOL],
      down: new Set(['http-a', 'l4-b']),
      latencies: new Map([
        [
          'web',
          {
            all: LATENCIES,
            parts: {
              pools: { 'pool-http': { latencies: LATENCIES, responses: responses(4, 1) } },
              routes: { 'route-1': { latencies: LATENCIES, responses: responses(4, 1) } },
            },
          },
        ],
      ]),
    })
    await expect(text).toMatchFileSnapshot(new URL('testdata/figures.prom', import.meta.url).pathname)
  })

  test('each family is named once, before its samples, and no value is missing', () => {
    const text = metricsText({ entry: ENTRY, stats: new Map(), pools: [POOL], down: new Set(), latencies: new Map() })
    const families = [...text.matchAll(/^# TYPE (\S+) (gauge|counter)$/gm)].map(([, name]) => name)
    expect(new Set(families).size).toBe(families.length)
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) octavia_\w+ .+|octavia_\w+(\{\w+="[\w-]+"(,\w+="[\w-]+")*\})? [\d.]+)$/)
    // Nothing was counted for its listeners.
    expect(text).not.toContain('octavia_listener_bytes_in_total')
  })
})

describe('a listener that answers with figures', () => {
  const metrics = (stats = async () => [WEB, counted('other', 9, 'another')], clock = new FakeClock()) =>
    new LoadBalancerMetrics({
      drivers: [{ stats, poolFigures: async () => [POOL] }, { stats: async () => [counted('dns', 5)] }],
      latencies: () => null,
      down: (key) => new Set(key === ENTRY.key ? ['http-a'] : []),
      clock,
    })

  test('has those of its own load balancer alone, of all drivers', async () => {
    const known = metrics()
    known.applied(ENTRY.key, ENTRY)
    const text = await known.of('figures')
    expect(text).toContain('octavia_listener_sessions_total{listener="web"} 7\n')
    expect(text).toContain('octavia_listener_sessions_total{listener="dns"} 5\n')
    expect(text).toContain('octavia_loadbalancer_connections_total 12\n')
    expect(text).toContain('octavia_member_status{pool="pool-http",member="http-a"} 0\n')
    expect(text).not.toContain('other')
  })

  test('is of protocol metrics, and of an entry that the node has', async () => {
    const known = metrics()
    known.applied(ENTRY.key, ENTRY)
    expect(await known.of('web')).toBeNull()
    expect(await known.of('unknown')).toBeNull()
    known.applied(ENTRY.key, { ...ENTRY, services: ENTRY.services.slice(0, 2) })
    expect(await known.of('figures')).toBeNull()
    known.applied(ENTRY.key, ENTRY)
    known.applied(ENTRY.key, null)
    expect(await known.of('figures')).toBeNull()
  })

  test('costs one reading of the node in a second, however often it is asked; a failed reading is not kept', async () => {
    const clock = new FakeClock()
    let [read, fails] = [0, false]
    const known = metrics(async () => {
      read++
      if (fails) throw new Error('no answer')
      return [counted('web', read)]
    }, clock)
    known.applied(ENTRY.key, ENTRY)
    const sessions = async () => /sessions_total\{listener="web"\} (\d+)/.exec((await known.of('figures')) ?? '')?.[1]
    expect(await Promise.all([sessions(), sessions()])).toEqual(['1', '1'])
    await clock.advance(999)
    expect(await sessions()).toBe('1')
    await clock.advance(1)
    expect(await sessions()).toBe('2')
    await clock.advance(1000)
    fails = true
    await expect(sessions()).rejects.toThrow('no answer')
    fails = false
    expect(await sessions()).toBe('4')
  })
})
