import { describe, expect, test } from 'vitest'
import type { RouteObject } from '../../objects/route.ts'
import {
  connectionRoute,
  gatewayWith,
  http,
  listener,
  serviceOf,
  surroundingsOf,
  TLS_ID,
  to,
} from '../../testing/objects.ts'
import { secretsOf } from '../listeners/certificates.ts'
import { compileGateway } from './compile-gateway.ts'
import { routeOutcomes } from './route-outcome.ts'

const udp = { ports: [{ name: 'dns', port: 8080, targetPort: 53, protocol: 'UDP' as const }] }
const surroundings = surroundingsOf([serviceOf('a'), serviceOf('b'), serviceOf('dns', udp)])
const compiled = (listeners: Parameters<typeof gatewayWith>[0], ...routes: RouteObject[]) =>
  compileGateway(gatewayWith(listeners), routes, surroundings)
const contentOf = (...from: Parameters<typeof compiled>) => compiled(...from).wanted!.content
const outcomeOf = (
  listeners: Parameters<typeof gatewayWith>[0],
  route: RouteObject,
  all: readonly RouteObject[] = [],
) =>
  routeOutcomes(
    route,
    () => gatewayWith(listeners),
    surroundings,
    () => all,
    () => [],
  )[0]!

describe('listeners of protocols TCP and UDP', () => {
  test('have one number, and each the pool of its route', () => {
    const { listeners, pools } = contentOf(
      [listener('udp', 'UDP', 53), listener('tcp', 'TCP', 53)],
      connectionRoute('TCPRoute', [to('a')], { name: 't' }),
      connectionRoute('UDPRoute', [to('dns')], { name: 'u', number: 3 }),
    )
    expect(listeners).toEqual([
      { name: 'tcp', port: 53, allowedCidrs: null, protocol: 'tcp', defaultPool: 'TCPRoute/shop/t' },
      { name: 'udp', port: 53, allowedCidrs: null, protocol: 'udp', defaultPool: 'UDPRoute/shop/u' },
    ])
    expect(pools.map(({ name, protocol, members }) => [name, protocol, members.length])).toEqual([
      ['TCPRoute/shop/t', 'tcp', 1],
      ['UDPRoute/shop/u', 'udp', 1],
    ])
  })

  test('a route of several listeners has one pool', () => {
    const { listeners, pools } = contentOf(
      [listener('one', 'TCP', 1), listener('two', 'TCP', 2)],
      connectionRoute('TCPRoute', [to('a')], { name: 't' }),
    )
    expect(listeners.map(({ defaultPool }) => defaultPool)).toEqual(['TCPRoute/shop/t', 'TCPRoute/shop/t'])
    expect(pools).toHaveLength(1)
  })

  test.each([
    ['no route', []],
    ['a route without a backend that resolves', [connectionRoute('TCPRoute', [to('missing')])]],
  ])('without a pool connections are refused: %s', (_, routes) => {
    const { listeners, pools } = contentOf([listener('tcp', 'TCP', 1)], ...routes)
    expect([listeners[0]?.defaultPool, pools]).toEqual(['', []])
  })

  test('the oldest route has the listener; both are attached, and the younger one says who has it', () => {
    const older = connectionRoute('TCPRoute', [to('a')], { name: 'z', createdAt: '2026-01-01T00:00:00Z' })
    const younger = connectionRoute('TCPRoute', [to('b')], { name: 'y', createdAt: '2026-01-02T00:00:00Z', number: 3 })
    const listeners = [listener('tcp', 'TCP', 1)]
    const made = compiled(listeners, younger, older)
    expect(made.wanted?.content.listeners[0]?.defaultPool).toBe('TCPRoute/shop/z')
    expect(made.listeners[0]?.attachedRoutes).toBe(2)
    const all = [younger, older]
    expect(outcomeOf(listeners, younger, all)).toMatchObject({
      refused: null,
      idle: 'Listener tcp sends to TCPRoute/shop/z, which is older.',
    })
    expect(outcomeOf(listeners, older, all)).toMatchObject({ refused: null, idle: '' })
  })

  test('of one age the first by name has it', () => {
    const routes = ['b', 'a'].map((name, at) => connectionRoute('TCPRoute', [to(name)], { name, number: at + 2 }))
    expect(contentOf([listener('tcp', 'TCP', 1)], ...routes).listeners[0]?.defaultPool).toBe('TCPRoute/shop/a')
  })

  test('a UDPRoute needs a UDP port, a TCPRoute a TCP port', () => {
    const at = [listener('tcp', 'TCP', 1), listener('udp', 'UDP', 1)]
    expect(outcomeOf(at, connectionRoute('TCPRoute', [to('dns')])).unresolved?.reason).toBe('BackendNotFound')
    expect(outcomeOf(at, connectionRoute('UDPRoute', [to('a')])).unresolved?.reason).toBe('BackendNotFound')
    expect(outcomeOf(at, connectionRoute('UDPRoute', [to('dns')])).unresolved).toBeNull()
  })
})

describe('attaching', () => {
  const all = [http('http'), listener('tls', 'TLS', 443), listener('tcp', 'TCP', 1), listener('udp', 'UDP', 1)]
  test.each([
    ['TLSRoute', 'tls'],
    ['TCPRoute', 'tcp'],
    ['UDPRoute', 'udp'],
  ] as const)('a %s attaches to listeners of its protocol alone', (kind, name) => {
    const made = compiled(all, connectionRoute(kind, [to('a')]))
    const attached = made.listeners.flatMap(({ judged, attachedRoutes }) =>
      attachedRoutes > 0 ? [judged.listener.name] : [],
    )
    expect(attached).toEqual([name])
    expect(outcomeOf([http('http')], connectionRoute(kind, [to('a')])).refused?.reason).toBe('NotAllowedByListeners')
  })

  test('listeners of one port conflict over TCP, and not with UDP', () => {
    const made = compiled([listener('a', 'TCP', 80), http('b'), listener('c', 'UDP', 80)])
    expect(made.listeners.map(({ judged }) => judged.conflict?.reason ?? null)).toEqual([
      'ProtocolConflict',
      'ProtocolConflict',
      null,
    ])
  })
})

describe('listeners of protocol TLS', () => {
  const tls = (name: string, hostname?: string) =>
    listener(name, 'TLS', 443, hostname === undefined ? {} : { hostname })
  const named = (hostnames: string[], backends: object[], more: object = {}) =>
    connectionRoute('TLSRoute', backends as never, more, { hostnames })
  /** `pools host`, in order. */
  const orderOf = (...from: Parameters<typeof compiled>) =>
    contentOf(...from).listeners[0]?.routes?.map(({ action, conditions }) => {
      const host = conditions[0] as { values?: string[]; compare?: string } | undefined
      const pools = action.type === 'forward' ? action.pools.map(({ pool, weight }) => `${pool}=${weight}`) : ['?']
      return `${pools.join('+')} ${host?.compare === 'any-labels' ? '*.' : ''}${host?.values?.join('+') ?? ''}`.trim()
    })
  const A = 'tcp-proxy/shop/a:8080'
  const B = 'tcp-proxy/shop/b:8080'

  test('pass on by name, the more specific one first, and close the share of what does not resolve', () => {
    const routes = [
      named(['*.x.org'], [to('a')], { name: 'wide' }),
      named(['w.x.org'], [to('b', { weight: 3 }), to('missing')], { name: 'one', number: 3 }),
    ]
    expect(orderOf([tls('tls')], ...routes)).toEqual([`${B}=3+closed=1 w.x.org`, `${A}=1 *.x.org`, 'closed=1'])
    const { listeners, pools } = contentOf([tls('tls')], ...routes)
    expect(listeners).toMatchObject([{ protocol: 'tls-passthrough', defaultPool: '' }])
    expect(listeners[0]).not.toHaveProperty('insertHeaders')
    expect(pools.map(({ name, protocol, members }) => [name, protocol, members.length])).toEqual([
      ['closed', 'tcp-proxy', 0],
      [A, 'tcp-proxy', 1],
      [B, 'tcp-proxy', 1],
    ])
  })

  test.each([
    ['an exact listener and a wider route', 'w.x.org', ['*.x.org'], `${A}=1 w.x.org`],
    ['a wider listener and an exact route', '*.x.org', ['W.x.org', 'other.net'], `${A}=1 w.x.org`],
    ['any name', undefined, ['w.x.org'], `${A}=1 w.x.org`],
  ])('have the names that both have: %s', (_, hostname, hostnames, expected) => {
    expect(orderOf([tls('tls', hostname)], named(hostnames, [to('a')]))?.[0]).toBe(expected)
  })

  test('no name in common', () => {
    const route = named(['x.net'], [to('a')])
    expect(outcomeOf([tls('tls', 'x.org')], route).refused?.reason).toBe('NoMatchingListenerHostname')
    expect(compiled([tls('tls', 'x.org')], route).listeners[0]?.attachedRoutes).toBe(0)
  })

  test('are isolated: a name of a listener is not for routes of a wider one', () => {
    const route = connectionRoute('TLSRoute', [to('a')], {}, { parentRefs: [{ name: 'web', sectionName: 'wide' }] })
    expect(orderOf([tls('wide', '*.x.org'), tls('one', 'w.x.org')], route)).toEqual([
      'closed=1 w.x.org',
      `${A}=1 *.x.org`,
      'closed=1 *.x.org',
      'closed=1',
    ])
  })

  test('of two routes with one name the older stands first', () => {
    const younger = named(['x.org'], [to('a')], { createdAt: '2026-02-01T00:00:00Z' })
    const older = named(['x.org'], [to('b')], { name: 'z', number: 3 })
    expect(orderOf([tls('tls')], younger, older)?.[0]).toBe(`${B}=1 x.org`)
  })

  const ending = (name: string, secret: string, hostname?: string) =>
    listener(name, 'TLS', 443, {
      tls: { certificateRefs: [{ name: secret }] },
      ...(hostname !== undefined && { hostname }),
    })

  test('end TLS where their mode says so, with the certificates of their Secrets, and offer no protocol', () => {
    const route = named(['w.x.org'], [to('a')])
    const { listeners } = contentOf([ending('tls', 'tls', '*.x.org')], route)
    expect(listeners).toMatchObject([{ protocol: 'tls', tls: { certificateIds: [TLS_ID], alpn: [] } }])
    expect(orderOf([ending('tls', 'tls', '*.x.org')], route)).toEqual([`${A}=1 w.x.org`, 'closed=1 *.x.org'])
    const [judged] = compiled([ending('tls', 'missing')], route).listeners
    expect(judged?.judged.unresolved?.reason).toBe('InvalidCertificateRef')
  })

  describe('of two modes on one port', () => {
    const both = [ending('ends', 'tls', 'a.x.org'), tls('on', '*.x.org')]
    /** Conditions of the routes of listeners that pass TLS on, and the pool that each leads to. */
    const passed = (...from: Parameters<typeof compiled>) =>
      contentOf(...from).listeners[0]?.routes?.map(({ conditions, action }) => [
        ...conditions.map(
          (one) => `${one.not ? 'not ' : ''}${one.on === 'host' ? `${one.compare} ${one.values}` : '?'}`,
        ),
        action.type === 'forward' ? action.pools[0]?.pool : '?',
      ])

    test('are two of the load balancer: one passes its names on, and the other one has all others', () => {
      const made = compiled(both)
      expect(made.listeners.map(({ judged }) => [judged.conflict, judged.kinds.length])).toEqual([
        [null, 1],
        [null, 1],
      ])
      expect(contentOf(both).listeners).toMatchObject([
        { name: 'on', port: 443, protocol: 'tls-passthrough', defaultPool: '' },
        { name: 'ends', port: 443, protocol: 'tls', tls: { certificateIds: [TLS_ID] } },
      ])
    })

    test('have the names of the more specific listener', () => {
      const route = named(['a.x.org', 'b.x.org', '*.x.org'], [to('a')])
      expect(passed(both, route)).toEqual([
        ['exact a.x.org,b.x.org', 'not exact a.x.org', A],
        ['any-labels x.org', 'not exact a.x.org', A],
        ['any-labels x.org', 'not exact a.x.org', 'closed'],
      ])
      expect(contentOf(both, route).listeners[1]?.routes?.map(({ name }) => name)).toEqual([
        expect.any(String),
        'closed/a.x.org',
      ])
      const wide = [ending('ends', 'tls', '*.x.org'), tls('on', 'b.x.org')]
      expect(passed(wide, named(['b.x.org'], [to('a')]))).toEqual([
        ['exact b.x.org', A],
        ['exact b.x.org', 'closed'],
      ])
    })

    test('close all other names where one passes on whatever name is asked for', () => {
      expect(passed([ending('ends', 'tls', '*.x.org'), ending('one', 'tls', 'y.org'), tls('on')])).toEqual([
        ['not any-labels x.org', 'not exact y.org', 'closed'],
      ])
    })

    test('HTTPS may be beside it, and a request for a name that is passed on is misdirected there', () => {
      const https = listener('web', 'HTTPS', 443, { hostname: '*.x.org', tls: { certificateRefs: [{ name: 'tls' }] } })
      expect(contentOf([https, tls('on', 'a.x.org')]).listeners).toMatchObject([
        { protocol: 'tls-passthrough' },
        { protocol: 'https', tls: { separateHosts: ['*.x.org', 'a.x.org'] } },
      ])
      const made = compiled([https, ending('ends', 'tls', 'b.x.org'), tls('on', 'a.x.org')])
      expect(made.listeners.map(({ judged }) => judged.conflict?.reason ?? null)).toEqual([
        ...['ProtocolConflict', 'ProtocolConflict', null],
      ])
    })

    test('exclude each other with one name', () => {
      const made = compiled([ending('ends', 'tls', 'a.x.org'), tls('on', 'A.x.org')])
      expect(made.listeners.map(({ judged }) => judged.conflict?.reason)).toEqual([
        ...['HostnameConflict', 'HostnameConflict'],
      ])
    })
  })

  test('the Secrets of those that pass TLS on are not read', () => {
    const refs = { certificateRefs: [{ name: 'tls' }] }
    const on = listener('on', 'TLS', 443, { tls: { mode: 'Passthrough', ...refs } })
    expect([...secretsOf(gatewayWith([on]), [])]).toEqual([])
    expect([...secretsOf(gatewayWith([ending('ends', 'tls')]), [])]).toEqual(['shop/tls'])
  })
})
