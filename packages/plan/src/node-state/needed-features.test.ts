import { type HttpRoute, httpRoute, type LoadBalancer, listenerTls, poolTls, routeAuthorizer } from '@spout/model'
import { accessLog } from '@spout/model/access-log'
import { describe, expect, it } from 'vitest'
import { id, listener, pool } from '../testing/documents.ts'
import { neededFeatures } from './needed-features.ts'

const NOW = '2026-01-01T00:00:00.000Z'
type Listener = LoadBalancer['listeners'][number]

/** What one listener needs in a network with full NAT. */
const needsOf = (one: Listener, pools: LoadBalancer['pools'] = []) =>
  neededFeatures({ listeners: [one], pools }, 'snat')
const http = (fields: Partial<Listener> = {}) => listener(4, 80, { protocol: 'http', ...fields })

describe('neededFeatures', () => {
  it('asks for the fabric interface that the group names, even without listeners', () => {
    const needs = neededFeatures({ listeners: [], pools: [] }, 'snat', { namesFabric: true })
    expect(needs).toEqual(['fabric-of-group'])
  })

  it('lists the protocols of listeners, and PROXY protocol of pools in use', () => {
    const pools = [pool(1, [], { protocol: 'tcp-proxy-v2' }), pool(2, [], { protocol: 'tcp-proxy-v1' })]
    const listeners = [
      listener(3, 80, { protocol: 'http', defaultPoolId: id(1) }),
      listener(4, 53, { protocol: 'udp' }),
      listener(5, 3868, { protocol: 'sctp' }),
      listener(6, 443, { protocol: 'tcp-proxy' }),
    ]
    expect(neededFeatures({ listeners, pools }, 'gateway')).toEqual([
      'l4.sctp',
      'l4.udp',
      'l7.http',
      'l7.proxy-protocol',
      'l7.tcp-proxy',
    ])
    expect(needsOf(listener(4, 443, { protocol: 'tls' }), pools)).toContain('l7.tls')
    expect(needsOf(listener(4, 443, { protocol: 'tls-passthrough' }), pools)).toEqual(['l7.tls-passthrough'])
    expect(needsOf(listener(4, 80), pools)).toEqual(['l4.tcp'])
    const refusing = pool(1, [], { refusedPercent: 10 })
    expect(needsOf(listener(4, 80, { defaultPoolId: id(1) }), [refusing])).toEqual(['l4.refused-shares', 'l4.tcp'])
    const persistence = { type: 'source-ip', timeoutSeconds: null, networks: { ipv4Prefix: 24 } } as const
    expect(needsOf(listener(4, 80, { defaultPoolId: id(1) }), [pool(1, [], { persistence })])).toEqual([
      ...['l4.client-networks', 'l4.tcp'],
    ])
    // Every node can tell clients apart by their whole address.
    const whole = { ...persistence, networks: { ipv4Prefix: 32, ipv6Prefix: 128 } }
    expect(needsOf(listener(4, 80, { defaultPoolId: id(1) }), [pool(1, [], { persistence: whole })])).toEqual([
      'l4.tcp',
    ])
  })

  it('asks for direct return where a listener replies that way', () => {
    expect(neededFeatures({ listeners: [listener(4, 80)], pools: [] }, 'dsr')).toEqual(['dsr', 'l4.tcp'])
    expect(neededFeatures({ listeners: [], pools: [] }, 'dsr')).toEqual([])
  })

  it('asks for nodes that balance to their own members where these are on the nodes', () => {
    expect(neededFeatures({ listeners: [listener(4, 80)], pools: [] }, 'node')).toEqual(['l4.member-nodes', 'l4.tcp'])
  })

  it('lists what TLS of a listener needs', () => {
    const needed = (own: object) =>
      needsOf(listener(4, 443, { protocol: 'https', tls: listenerTls.parse({ certificateIds: [id(8)], ...own }) }))
    expect(needed({ ciphers: ['TLS_AES_128_GCM_SHA256'] })).toEqual(['l7.https', 'l7.tls-ciphers'])
    const asking = (own: object) => needed({ clientCertificates: { caCertificateId: id(9), ...own } })
    expect(asking({ crlCertificateId: null })).toEqual(['l7.client-certificates', 'l7.https'])
    expect(asking({ crlCertificateId: id(7) })).toEqual([
      ...['l7.client-certificates', 'l7.client-certificates.crl', 'l7.https'],
    ])
    expect(asking({ required: false, acceptInvalid: true })).toEqual([
      ...['l7.client-certificates', 'l7.client-certificates.invalid', 'l7.https'],
    ])
    expect(needed({ separateHosts: ['a.example'] })).toEqual(['l7.https', 'l7.separate-hosts'])
    const passing = listener(3, 443, { protocol: 'tls-passthrough' })
    const ending = listener(4, 443, { protocol: 'https', tls: listenerTls.parse({ certificateIds: [id(8)] }) })
    expect(neededFeatures({ listeners: [passing, ending], pools: [] }, 'snat')).toEqual([
      ...['l7.https', 'l7.tls-passthrough', 'l7.tls-shared-ports'],
    ])
  })

  it('lists what figures and access logs need', () => {
    expect(needsOf(http({ latencies: true }))).toEqual(['l7.http', 'l7.latencies'])
    expect(needsOf(http({ latencies: true, routeFigures: true }))).toEqual([
      ...['l7.http', 'l7.latencies', 'l7.latencies.routes'],
    ])
    const logging = (own: object) => needsOf(http({ accessLog: accessLog.parse(own) }))
    expect(logging({})).toEqual(['l7.access-log', 'l7.http'])
    expect(logging({ syslog: { address: '10.0.0.9' } })).toEqual(['l7.access-log.syslog', 'l7.http'])
    const overTls = { address: '10.0.0.9', transport: 'tls', tls: { caCertificateId: id(9) } }
    expect(logging({ syslog: overTls })).toEqual(['l7.access-log.syslog-tls', 'l7.http'])
  })

  it('lists what connections to members need', () => {
    const needed = (fields: Partial<LoadBalancer['pools'][number]>) =>
      needsOf(http({ defaultPoolId: id(1) }), [pool(1, [], { protocol: 'http', ...fields })])
    expect(needed({ tls: poolTls.parse({ ciphers: ['TLS_AES_128_GCM_SHA256'] }) })).toEqual([
      ...['l7.http', 'l7.pool-tls', 'l7.tls-ciphers'],
    ])
    expect(needed({ tls: poolTls.parse({ caCertificateId: id(9), crlCertificateId: id(7) }) })).toEqual([
      ...['l7.http', 'l7.pool-tls', 'l7.pool-tls.crl'],
    ])
    expect(needed({ http2: true })).toEqual(['l7.http', 'l7.pool-h2c'])
  })

  it('lists what the class asks for, where a proxy carries it', () => {
    const own = (protocol: 'http' | 'tcp') =>
      neededFeatures({ listeners: [listener(4, 80, { protocol })], pools: [] }, 'snat', {
        dedicatedProxy: { memoryMegabytes: 64 },
      })
    expect(own('http')).toEqual(['l7.dedicated-proxy', 'l7.http'])
    expect(own('tcp')).toEqual(['l4.tcp'])
  })

  it('lists what routes need', () => {
    const action = { type: 'forward' as const, pools: [{ poolId: id(1), weight: 1 }] }
    const routed = (one: HttpRoute['action']) => {
      const fields = { id: id(9), name: '', description: '', createdAt: NOW, updatedAt: null, tags: [], action: one }
      const [carrier, ...others] = needsOf(http({ routes: [httpRoute.parse(fields)] }))
      expect(carrier).toBe('l7.http')
      return others
    }
    const filters = [{ type: 'rewrite' as const, host: 'a.example', path: null, prefix: null }]
    const filteredShare = { ...action, pools: [{ ...action.pools[0]!, filters }] }
    const redirect = { type: 'redirect' as const, code: 302, scheme: null, host: null, port: null, path: null }
    const authorizer = routeAuthorizer.parse({ poolId: id(1) })
    expect(routed(action)).toEqual(['l7.routes'])
    const cases: readonly (readonly [feature: string, HttpRoute['action']])[] = [
      ['filters', { ...action, filters }],
      ['timeouts', { ...action, timeouts: { requestMs: 1_000, backendRequestMs: null } }],
      ['retries', { ...action, retry: { attempts: 1, codes: [], backoffMs: 0 } }],
      ['client-rates', { ...action, clientRate: { requests: 1, perSeconds: 1, burst: 0 } }],
      ['body-limits', { ...action, maxBodyBytes: 0 }],
      ['client-concurrency', { ...action, clientConcurrency: 1 }],
      ['answered-shares', { ...action, answered: { code: 500, weight: 1 } }],
      ['pool-filters', filteredShare],
      ['prefix-redirects', { ...redirect, pathPrefix: null, prefix: { from: '/a', to: '/b' } }],
      ['mirrors', { ...action, mirrors: [{ poolId: id(1), percent: 50 }] }],
      ['authorizers', { ...action, authorizer }],
      ['basic-authentication', { ...action, basicAuthentication: { realm: '', usersId: id(1) } }],
    ]
    const both = { ...action, authorizer, basicAuthentication: { realm: '', usersId: id(1) } }
    expect(routed(both)).toEqual([
      ...['l7.routes', 'l7.routes.authorizers', 'l7.routes.authorizers-with-passwords'],
      'l7.routes.basic-authentication',
    ])
    for (const [feature, needing] of cases) expect(routed(needing)).toEqual(['l7.routes', `l7.routes.${feature}`])
  })
})
