import { describe, expect, test } from 'vitest'
import type { GatewayListener } from '../../objects/gateway.ts'
import type { ListenerSet } from '../../objects/listener-set.ts'
import {
  gatewayWith,
  grantOf,
  http,
  listener,
  routeWith,
  serviceOf,
  setWith,
  surroundingsOf,
  TLS_ID,
  to,
} from '../../testing/objects.ts'
import { compileGateway } from '../gateways/compile-gateway.ts'
import { routeOutcomes } from '../gateways/route-outcome.ts'
import { secretsOf } from './certificates.ts'
import { gatewayOf, judgeParents } from './listener-parents.ts'
import { isUsable } from './listeners.ts'

const allowing = (from: string, more: object = {}) => ({ allowedListeners: { namespaces: { from, ...more } } })
const gateway = (listeners: readonly GatewayListener[] = [http('own', { hostname: 'own.com' })], from = 'All') =>
  gatewayWith(listeners, allowing(from))
const named = (name: string, kind?: string) => ({ name, namespace: 'shop', ...(kind !== undefined && { kind }) })
const inSet = (name: string, more: object = {}) => ({ ...named(name, 'ListenerSet'), ...more })

test('a reference of a route leads to a Gateway, also over a ListenerSet', () => {
  const known: Readonly<Record<string, ListenerSet>> = {
    'shop/more': setWith('more', []),
    'shop/odd': { ...setWith('odd', []), spec: { parentRef: { kind: 'Service', name: 'web' }, listeners: [] } },
  }
  const leads = (ref: { name: string; namespace?: string; group?: string; kind?: string }) =>
    gatewayOf(ref, 'shop', (key) => known[key])
  expect(leads({ name: 'web' })).toBe('shop/web')
  expect(leads({ name: 'web', namespace: 'infra' })).toBe('infra/web')
  expect(leads({ name: 'web', group: '', kind: 'Service' })).toBeNull()
  expect(leads({ name: 'more', kind: 'ListenerSet' })).toBe('shop/web')
  expect(leads({ name: 'more', namespace: 'team', kind: 'ListenerSet' })).toBeNull()
  expect(leads({ name: 'more', group: 'x.org', kind: 'ListenerSet' })).toBeNull()
  expect(leads({ name: 'odd', kind: 'ListenerSet' })).toBeNull()
})

test.each([
  ['none by default', {}, []],
  ['none', allowing('None'), []],
  ['its namespace', allowing('Same'), ['shop/own']],
  ['chosen ones', allowing('Selector', { selector: { matchLabels: { team: 'red' } } }), ['team/red']],
  ['all', allowing('All'), ['shop/own', 'team/red']],
])('a Gateway allows ListenerSets of %s', (_, spec, expected) => {
  const sets = [
    setWith('own', [http('a', { hostname: 'a.com' })]),
    setWith('red', [http('b', { hostname: 'b.com' })], { namespace: 'team' }),
  ]
  const judged = judgeParents(
    gatewayWith([http('web', { hostname: 'own.com' })], spec),
    surroundingsOf([], [], { shop: {}, team: { team: 'red' } }, sets),
  )
  expect(judged.sets.filter(({ isAllowed }) => isAllowed).map(({ key }) => key)).toEqual(expected)
  // A ListenerSet that is not allowed is not judged.
  expect(judged.sets.filter(({ listeners }) => listeners.length > 0).map(({ key }) => key)).toEqual(expected)
})

describe('precedence', () => {
  const outcomesOf = (own: readonly GatewayListener[], sets: readonly ListenerSet[]) => {
    const judged = judgeParents(gateway(own), surroundingsOf([], [], {}, sets))
    return Object.fromEntries(
      [judged.own, ...judged.sets].flatMap(({ listeners }) =>
        listeners.map(({ id, conflict }) => [id, conflict?.reason ?? 'served']),
      ),
    )
  }

  test('the Gateway, then the older set, then the first by name', () => {
    const [own, a, b] = [http('x', { hostname: 'own.com' }), 'a.com', 'b.com'].map((one) =>
      typeof one === 'string' ? http('x', { hostname: one }) : one,
    ) as [GatewayListener, GatewayListener, GatewayListener]
    const young = setWith('a-young', [a], { createdAt: '2026-02-01T00:00:00Z' })
    const old = setWith('z-old', [
      { ...own, hostname: 'OWN.com' },
      { ...a, name: 'y' },
      { ...b, name: 'z' },
    ])
    const second = setWith('zz-old', [b])
    expect(outcomesOf([own], [young, second, old])).toEqual({
      x: 'served',
      'shop/z-old/x': 'HostnameConflict',
      'shop/z-old/y': 'served',
      'shop/z-old/z': 'served',
      'shop/zz-old/x': 'HostnameConflict',
      'shop/a-young/x': 'HostnameConflict',
    })
  })

  test("one that an earlier one excludes stands in nobody's way", () => {
    const first = setWith('first', [http('a', { hostname: 'a.com' }), listener('tcp', 'TCP', 80)])
    const second = setWith('second', [http('b', { hostname: 'b.com' }), listener('tcp', 'TCP', 80)])
    expect(outcomesOf([http('own', { hostname: 'own.com' })], [first, second])).toEqual({
      own: 'served',
      'shop/first/a': 'served',
      'shop/first/tcp': 'ProtocolConflict',
      'shop/second/b': 'served',
      'shop/second/tcp': 'ProtocolConflict',
    })
  })

  test('of two in one set neither is served, and both keep later sets away', () => {
    const first = setWith('first', [http('a', { port: 81 }), listener('tcp', 'TCP', 81)])
    const second = setWith('second', [http('b', { port: 81, hostname: 'b.com' })])
    expect(outcomesOf([http('own')], [first, second])).toEqual({
      own: 'served',
      'shop/first/a': 'ProtocolConflict',
      'shop/first/tcp': 'ProtocolConflict',
      'shop/second/b': 'ProtocolConflict',
    })
  })

  test('a set is not told who excludes it', () => {
    const secret = setWith('secret', [http('payroll', { hostname: 'a.com' })], { namespace: 'team' })
    const later = setWith('later', [http('x', { hostname: 'a.com' })], { createdAt: '2026-02-01T00:00:00Z' })
    const { sets } = judgeParents(gateway(), surroundingsOf([], [], {}, [secret, later]))
    const message = sets[1]?.listeners[0]?.conflict?.message
    expect(message).toContain('has precedence')
    expect(message).not.toMatch(/team|secret|payroll/)
  })
})

test('a grant for a Gateway is none for its ListenerSets, nor the other way round', () => {
  const https = (name: string) =>
    http(name, {
      ...{ port: 443, protocol: 'HTTPS', hostname: `${name}.com` },
      tls: { certificateRefs: [{ name: 'tls', namespace: 'certs' }] },
    })
  const set = setWith('more', [https('more')])
  const grants = (kind: string) => [
    {
      ...grantOf('certs', 'shop', { kind: 'Secret' }),
      spec: {
        from: [{ group: 'gateway.networking.k8s.io', kind, namespace: 'shop' }],
        to: [{ group: '', kind: 'Secret' }],
      },
    },
  ]
  const judge = (kind: string) => {
    const surroundings = surroundingsOf([], grants(kind), {}, [set])
    const judged = judgeParents(gateway([https('own')]), surroundings, surroundings)
    return [judged.own, ...judged.sets].map(({ listeners }) => listeners.map(isUsable).join())
  }
  expect(judge('Gateway')).toEqual(['true', 'false'])
  expect(judge('ListenerSet')).toEqual(['false', 'true'])
  expect([...secretsOf(set, grants('Gateway'), 'ListenerSet')]).toEqual([])
  expect([...secretsOf(set, grants('ListenerSet'), 'ListenerSet')]).toEqual(['certs/tls'])
})

describe('compiled', () => {
  const services = [serviceOf('a'), serviceOf('b')]
  /** `pool or code, host`, in the order of the first port. */
  const served = (made: ReturnType<typeof compileGateway>) =>
    made.wanted?.content.listeners[0]?.routes?.map(({ action, conditions }) => {
      const host = conditions.find(({ on }) => on === 'host') as { values?: string[] } | undefined
      const what = action.type === 'forward' ? action.pools[0]?.pool : 'code' in action ? action.code : ''
      return `${what} ${host?.values?.join() ?? ''}`.trim()
    })

  test('routes attach to the object that they name, and to no other', () => {
    const more = setWith('more', [http('web', { hostname: 'more.com' })])
    const surroundings = surroundingsOf(services, [], {}, [more])
    const routes = [
      routeWith({ parentRefs: [named('web')], rules: [{ backendRefs: [to('a')] }] }),
      routeWith({ parentRefs: [inSet('more')], rules: [{ backendRefs: [to('b')] }] }, { name: 's', number: 3 }),
      routeWith(
        { parentRefs: [named('web'), inSet('more')], rules: [{ matches: [{ path: { value: '/both' } }] }] },
        { name: 't', number: 4 },
      ),
    ]
    const made = compileGateway(gateway([http('web', { hostname: 'own.com' })]), routes, surroundings)
    expect(served(made)).toEqual([
      ...['500 more.com', 'shop/b:8080 more.com', '404 more.com'],
      ...['500 own.com', 'shop/a:8080 own.com', '404 own.com'],
      '404',
    ])
    const names = made.wanted?.content.listeners[0]?.routes?.map(({ name }) => name) ?? []
    // Listeners with the same name have different ids.
    expect(new Set(names).size).toBe(names.length)
    expect(made.listeners.map(({ attachedRoutes }) => attachedRoutes)).toEqual([2])
    expect(made.sets[0]?.listeners.map(({ attachedRoutes }) => attachedRoutes)).toEqual([2])
    expect(made.wanted?.content.listeners.map(({ name }) => name)).toEqual(['web,shop/more/web'])
  })

  test('a port and a certificate of a set', () => {
    const tls = { certificateRefs: [{ name: 'tls' }] }
    const more = setWith('more', [http('web', { port: 443, protocol: 'HTTPS', tls })], { namespace: 'team' })
    const made = compileGateway(gateway(), [], surroundingsOf([], [], {}, [more]))
    const [, https] = made.wanted?.content.listeners ?? []
    expect([https?.port, https?.protocol, https?.tls?.certificateIds]).toEqual([443, 'https', [TLS_ID]])
  })

  test('its own namespace is that of the set, and sectionName is within it', () => {
    const more = setWith('more', [http('web', { hostname: 'more.com' }), http('alt', { port: 8080 })], {
      namespace: 'team',
    })
    const surroundings = surroundingsOf(services, [], {}, [more])
    const ref = { kind: 'ListenerSet', name: 'more', namespace: 'team' }
    const judge = (namespace: string, parent: object) => {
      const parentRefs = [parent as { name: string }]
      const route = routeWith({ parentRefs, rules: [{}] }, { namespace })
      const [outcome] = routeOutcomes(
        route,
        () => gateway(),
        surroundings,
        () => [],
        () => [],
      )
      return outcome?.refused?.reason ?? 'accepted'
    }
    expect(judge('team', ref)).toBe('accepted')
    expect(judge('shop', ref)).toBe('NotAllowedByListeners')
    expect(judge('team', { ...ref, sectionName: 'web', port: 80 })).toBe('accepted')
    expect(judge('team', { ...ref, sectionName: 'own' })).toBe('NoMatchingParent')
    expect(judge('team', { ...ref, port: 81 })).toBe('NoMatchingParent')
    expect(judge('shop', { name: 'web', sectionName: 'alt' })).toBe('NoMatchingParent')
  })

  test('a route of a set that is not allowed says so', () => {
    const surroundings = surroundingsOf(services, [], {}, [setWith('more', [http('web')])])
    const [outcome] = routeOutcomes(
      routeWith({ parentRefs: [inSet('more')], rules: [{}] }),
      () => gateway(undefined, 'None'),
      surroundings,
      () => [],
      () => [],
    )
    expect(outcome?.refused).toEqual({
      reason: 'NoMatchingParent',
      message: 'The ListenerSet is not allowed by its Gateway.',
    })
  })

  test('nothing of a set that is not allowed, nor of a Gateway without a valid listener', () => {
    const more = setWith('more', [http('web', { hostname: 'more.com', port: 81 })])
    const route = routeWith({ parentRefs: [inSet('more')], rules: [{ backendRefs: [to('a')] }] })
    const surroundings = surroundingsOf(services, [], {}, [more])
    const closed = compileGateway(gateway([http('own')], 'None'), [route], surroundings)
    expect(closed.wanted?.content.listeners.map(({ port }) => port)).toEqual([80])
    expect(closed.wanted?.content.pools).toEqual([])
    const invalid = compileGateway(gateway([http('own', { protocol: 'x.org/y' })]), [route], surroundings)
    expect(invalid.wanted).toBeNull()
    const open = compileGateway(gateway([http('own')]), [route], surroundings)
    expect(open.wanted?.content.listeners.map(({ port }) => port)).toEqual([80, 81])
  })
})
