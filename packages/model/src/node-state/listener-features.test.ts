import { expect, test } from 'vitest'
import { type FeaturedListener, featuresOfListener, type ListenerSurroundings } from './listener-features.ts'

const PLAIN: FeaturedListener = { protocol: 'https', port: 443 }
const ALONE: ListenerSurroundings = { listeners: [PLAIN] }

test('a listener without options needs its protocol of a proxy, and nothing if it is forwarded', () => {
  expect(featuresOfListener(PLAIN, ALONE)).toEqual(['l7.https'])
  const forwarded = { protocol: 'tcp', port: 80 } as const
  expect(featuresOfListener(forwarded, { listeners: [forwarded], dedicatedProxy: {}, requestSizes: {} })).toEqual([])
})

test.each<[string, Partial<FeaturedListener>, readonly string[]]>([
  ['certificates of clients', { tls: { clients: {} } }, ['l7.client-certificates']],
  [
    'lists of revoked certificates',
    { tls: { clients: { revocations: {} } } },
    ['l7.client-certificates', 'l7.client-certificates.crl'],
  ],
  [
    'invalid certificates',
    { tls: { clients: { acceptInvalid: true } } },
    ['l7.client-certificates', 'l7.client-certificates.invalid'],
  ],
  ['cipher suites', { tls: { ciphers: [] } }, ['l7.tls-ciphers']],
  ['hosts that are kept apart', { tls: { separateHosts: [] } }, ['l7.separate-hosts']],
  ['durations', { latencies: true }, ['l7.latencies']],
  ['counts of routes', { routeFigures: true }, ['l7.latencies.routes']],
  ['an access log', { accessLog: {} }, ['l7.access-log']],
  ['an access log to a receiver', { accessLog: { syslog: {} } }, ['l7.access-log.syslog']],
  ['a route', { routes: [{ conditions: [], action: { type: 'redirect' } }] }, ['l7.routes']],
])('%s', (_what, options, features) => {
  expect(featuresOfListener({ ...PLAIN, ...options }, ALONE)).toEqual(['l7.https', ...features])
})

test('its load balancer needs a process of its own, longer requests, or a port that names share', () => {
  expect(featuresOfListener(PLAIN, { ...ALONE, dedicatedProxy: {} })).toEqual(['l7.https', 'l7.dedicated-proxy'])
  expect(featuresOfListener(PLAIN, { ...ALONE, requestSizes: {} })).toEqual(['l7.https', 'l7.request-sizes'])
  const bytes: FeaturedListener = { protocol: 'tcp-proxy', port: 443 }
  expect(featuresOfListener(bytes, { listeners: [bytes], requestSizes: {} })).toEqual(['l7.tcp-proxy'])
  const passed = { protocol: 'tls-passthrough', port: 443 } as const
  expect(featuresOfListener(PLAIN, { listeners: [passed, PLAIN] })).toEqual(['l7.https', 'l7.tls-shared-ports'])
})
