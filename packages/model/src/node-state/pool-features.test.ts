import { expect, test } from 'vitest'
import { type FeaturedPool, featuresOfPool } from './pool-features.ts'

const PLAIN: FeaturedPool = { proxyProtocol: 'none' }

test('a pool without options needs nothing of drivers', () => {
  expect(featuresOfPool(PLAIN)).toEqual([])
})

test.each<[string, Partial<FeaturedPool>, readonly string[]]>([
  ['networks of clients', { clientNetworks: { ipv4Prefix: 24 } }, ['l4.client-networks']],
  ['a refused share', { refusedPercent: 0 }, ['l4.refused-shares']],
  ['a cookie', { session: { by: 'cookie' } }, ['l7.cookies']],
  ['a cookie that looks otherwise', { session: { by: 'cookie', cookie: {} } }, ['l7.cookies', 'l7.cookies.attributes']],
  ["the application's cookie", { session: { by: 'application-cookie' } }, ['l7.application-cookies']],
  ['HTTP/2 without TLS', { http2: true }, ['l7.pool-h2c']],
  ['TLS', { tls: {} }, ['l7.pool-tls']],
  ['lists of revoked certificates', { tls: { revocations: {} } }, ['l7.pool-tls', 'l7.pool-tls.crl']],
  ['cipher suites', { tls: { ciphers: [] } }, ['l7.pool-tls', 'l7.tls-ciphers']],
  ['the PROXY protocol', { proxyProtocol: 'v2' }, ['l7.proxy-protocol']],
])('%s', (_what, options, features) => {
  expect(featuresOfPool({ ...PLAIN, ...options })).toEqual(features)
})

test('features are of the packet path or of the proxy', () => {
  const pool: FeaturedPool = { proxyProtocol: 'v1', refusedPercent: 10, http2: true }
  expect(featuresOfPool(pool, 'packet path')).toEqual(['l4.refused-shares'])
  expect(featuresOfPool(pool, 'proxy')).toEqual(['l7.pool-h2c', 'l7.proxy-protocol'])
})
