import { describe, expect, test } from 'vitest'
import { gatewayWith, http, routeWith, serviceOf, surroundingsOf, TLS_ID, to } from '../../testing/objects.ts'
import { compileGateway } from './compile-gateway.ts'

const surroundings = surroundingsOf(['a', 'b', 'c', 'd', 'e'].map((name) => serviceOf(name)))
const path = (type: 'Exact' | 'PathPrefix', value: string) => ({ path: { type, value } })
const rule = (name: string, ...matches: object[]) => ({ matches: matches as never, backendRefs: [to(name)] })

/** The routes of a port as `pool or code, host`, in order. */
function orderOf(made: ReturnType<typeof compileGateway>, at = 0): readonly string[] {
  return (made.wanted?.content.listeners[at]?.routes ?? []).map(({ action, conditions }) => {
    const host = conditions.find(({ on }) => on === 'host') as { values?: string[]; compare?: string } | undefined
    const name = host === undefined ? '' : `${host.compare === 'any-labels' ? '*.' : ''}${host.values?.join('+')}`
    const what =
      action.type === 'forward' ? action.pools.map(({ pool }) => pool[5]).join('') : 'code' in action ? action.code : ''
    return `${what} ${name}`.trim()
  })
}

describe('precedence', () => {
  test('exact path, longest prefix, method, headers, query, then age and name, over several routes', () => {
    const younger = routeWith(
      { rules: [rule('a', path('PathPrefix', '/x/y')), rule('b', path('Exact', '/x'))] },
      { name: 'younger', createdAt: '2026-02-01T00:00:00Z', number: 3 },
    )
    const older = routeWith({
      rules: [
        rule('c', path('PathPrefix', '/x')),
        rule('d', { ...path('PathPrefix', '/x'), method: 'GET' }),
        rule('e', { ...path('PathPrefix', '/x'), headers: [{ name: 'h', value: '1' }] }),
        rule('a', path('PathPrefix', '/x/y')),
      ],
    })
    const made = compileGateway(gatewayWith([http('web')]), [younger, older], surroundings)
    expect(orderOf(made)).toEqual(['b', 'a', 'a', 'd', 'e', 'c', '404'])
    // Of two equal matches, the older route's comes first.
    expect(made.wanted?.content.listeners[0]?.routes?.[1]?.name.startsWith(older.metadata.uid!)).toBe(true)
  })

  test('the more specific host before the longer path', () => {
    const wide = routeWith({ hostnames: ['*.x.org'], rules: [rule('a', path('Exact', '/long/path'))] })
    const exact = routeWith(
      { hostnames: ['w.x.org'], rules: [rule('b', path('PathPrefix', '/'))] },
      { name: 's', number: 3 },
    )
    const any = routeWith({ rules: [rule('c', path('Exact', '/long/path'))] }, { name: 't', number: 4 })
    expect(orderOf(compileGateway(gatewayWith([http('web')]), [any, wide, exact], surroundings))).toEqual([
      'b w.x.org',
      'a *.x.org',
      'c',
      '404',
    ])
  })

  test('two exact names are of one place: the longer path counts', () => {
    const one = routeWith({ hostnames: ['longer.example.org', 'x.org'], rules: [rule('a', path('PathPrefix', '/'))] })
    const other = routeWith(
      { hostnames: ['x.org'], rules: [rule('b', path('PathPrefix', '/x'))] },
      { name: 's', number: 3 },
    )
    expect(orderOf(compileGateway(gatewayWith([http('web')]), [one, other], surroundings))).toEqual([
      'b x.org',
      'a longer.example.org+x.org',
      '404',
    ])
  })
})

describe('listeners', () => {
  test('are isolated: what a name does not serve is 404, not the routes of a wider name', () => {
    const gateway = gatewayWith([
      http('any'),
      http('wide', { hostname: '*.x.org' }),
      http('one', { hostname: 'w.x.org' }),
    ])
    const at = (sectionName: string, name: string, number: number) =>
      routeWith(
        { parentRefs: [{ name: 'web', sectionName }], rules: [rule(name, path('PathPrefix', `/${name}`))] },
        { name, number },
      )
    const made = compileGateway(gateway, [at('any', 'a', 3), at('wide', 'b', 4), at('one', 'c', 5)], surroundings)
    expect(orderOf(made)).toEqual(['c w.x.org', '404 w.x.org', 'b *.x.org', '404 *.x.org', 'a', '404'])
    expect(made.listeners.map(({ attachedRoutes }) => attachedRoutes)).toEqual([1, 1, 1])
  })

  test('each port has its own, and those that are not valid none', () => {
    const gateway = gatewayWith([http('a', { port: 8080 }), http('b'), http('x', { port: 53, protocol: 'odd' })])
    const made = compileGateway(gateway, [routeWith({ rules: [rule('a')] })], surroundings)
    expect(made.wanted?.content.listeners.map(({ port, protocol }) => [port, protocol])).toEqual([
      [80, 'http'],
      [8080, 'http'],
    ])
    expect(made.listeners.map(({ attachedRoutes }) => attachedRoutes)).toEqual([1, 1, 0])
  })

  test('a route counts once, through however many references, and although its backend is missing', () => {
    const route = routeWith({ parentRefs: [{ name: 'web' }, { name: 'web', sectionName: 'a' }], rules: [rule('x')] })
    const made = compileGateway(gatewayWith([http('a')]), [route], surroundings)
    expect(made.listeners[0]?.attachedRoutes).toBe(1)
    expect(orderOf(made)).toEqual(['500', '404'])
  })

  test('HTTPS listeners of a port show their certificates; a bad one is left out', () => {
    const tls = (name: string) => ({ protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name }] } })
    const gateway = gatewayWith([
      http('a', { hostname: 'a.org', ...tls('tls') }),
      http('b', { hostname: 'b.org', ...tls('missing') }),
    ])
    const made = compileGateway(gateway, [routeWith({ rules: [rule('a')] })], surroundings)
    expect(made.wanted?.content.listeners).toMatchObject([
      { protocol: 'https', port: 443, name: 'a', tls: { certificateIds: [TLS_ID] } },
    ])
    expect(made.listeners.map(({ attachedRoutes }) => attachedRoutes)).toEqual([1, 1])
    // With one listener there is nothing to keep apart.
    expect(made.wanted?.content.listeners[0]?.tls).not.toHaveProperty('separateHosts')
  })

  test('HTTPS listeners of a port keep their hosts apart, as long as there are not too many', () => {
    const tls = { protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name: 'tls' }] } }
    const hostsOf = (...hosts: readonly string[]) => {
      const listeners = hosts.map((hostname, at) => http(`l${at}`, { ...(hostname !== '' && { hostname }), ...tls }))
      const made = compileGateway(gatewayWith([...listeners, http('plain')]), [], surroundings)
      return made.wanted?.content.listeners.at(-1)?.tls?.separateHosts
    }
    expect(hostsOf('', 'B.org', '*.a.org')).toEqual(['*.a.org', 'b.org'])
    expect(hostsOf('a.org')).toBeUndefined()
    const long = Array.from({ length: 60 }, (_, at) => `${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(40)}${at}.org`)
    expect(hostsOf(...long)).toBeUndefined()
  })

  test('no valid listener: no load balancer', () => {
    expect(compileGateway(gatewayWith([http('a', { protocol: 'odd' })]), [], surroundings).wanted).toBeNull()
  })
})

test('a pool for each backend that requests reach, with its members and its owner', () => {
  const mirror = { type: 'RequestMirror', requestMirror: { backendRef: to('c') } }
  const rules = [{ backendRefs: [to('a'), to('b', { weight: 0 }), to('missing')], filters: [mirror] }]
  const { content } = compileGateway(gatewayWith([http('web')]), [routeWith({ rules })], surroundings).wanted!
  expect(content.pools.map(({ name, members }) => [name, members.map(({ address }) => address)])).toEqual([
    ['shop/a:8080', ['10.128.0.1']],
    ['shop/c:8080', ['10.128.0.1']],
  ])
  expect(content.name).toBe('shop/web')
  expect(content.annotations).toEqual({
    'kubernetes.cluster': 'c1',
    'kubernetes.gateway.00000000-0000-4000-8000-000000000001': 'shop/web',
  })
})

describe('addresses', () => {
  test.each([
    ['none', undefined, [{ family: 4, required: true, address: null }]],
    ['a type alone', [{ type: 'IPAddress' }], [{ family: 4, required: true, address: null }]],
    [
      'one of each family',
      [{ value: '2001:DB8::1' }, { type: 'IPAddress', value: '198.51.100.9' }],
      [
        { family: 6, required: true, address: '2001:db8::1' },
        { family: 4, required: true, address: '198.51.100.9' },
      ],
    ],
  ])('%s', (_, addresses, families) => {
    const made = compileGateway(gatewayWith([http('web')], { addresses }), [], surroundings)
    expect(made.wanted?.request.families).toEqual(families)
  })

  test.each([
    ['a host name', { addresses: [{ type: 'Hostname', value: 'x.org' }] }, 'UnsupportedAddress'],
    ['no address', { addresses: [{ value: 'x' }] }, 'UnsupportedAddress'],
    ['two of one family', { addresses: [{ value: '198.51.100.9' }, { value: '198.51.100.8' }] }, 'UnsupportedAddress'],
    [
      'parameters',
      { infrastructure: { parametersRef: { group: '', kind: 'ConfigMap', name: 'x' } } },
      'InvalidParameters',
    ],
  ])('%s: the Gateway is not accepted', (_, spec, reason) => {
    const made = compileGateway(gatewayWith([http('web')], spec), [], surroundings)
    expect([made.refused?.reason, made.wanted]).toEqual([reason, null])
  })
})

test('labels of the infrastructure are tags, annotations are told in one of the load balancer, and what is too long is not', () => {
  const annotations = {
    ...{ 'x.org/b': 'b', 'kubernetes.cluster': 'theirs', 'x.org/a': 'a "quoted" one' },
    ...{ 'x.org/long': 'x'.repeat(4_096), 'x.org/\n': 'x', 'x.org/bell': '\u0007' },
  }
  const labels = { team: 'shop', [`${'a.'.repeat(120)}example.com/x`]: 'y'.repeat(63), 'kubernetes.cluster': 'theirs' }
  const { wanted } = compileGateway(
    gatewayWith([http('web')], { infrastructure: { labels, annotations } }),
    [],
    surroundings,
  )
  expect(wanted?.content.tags).toEqual(['kubernetes.cluster=theirs', 'team=shop'])
  expect(wanted?.content.annotations).toMatchObject({ 'kubernetes.labels': 'kubernetes.cluster=theirs,team=shop' })
  expect(wanted?.content.annotations['kubernetes.annotations']).toBe(
    '{"kubernetes.cluster":"theirs","x.org/a":"a \\"quoted\\" one","x.org/b":"b"}',
  )
  expect(Object.values(wanted?.content.annotations ?? {})).not.toContain('theirs')
  const none = compileGateway(gatewayWith([http('web')], { infrastructure: { labels: {} } }), [], surroundings)
  expect(none.wanted?.content).not.toHaveProperty('tags')
  expect(Object.keys(none.wanted?.content.annotations ?? {})).not.toContain('kubernetes.labels')
  expect(Object.keys(none.wanted?.content.annotations ?? {})).not.toContain('kubernetes.annotations')
})

test('a pool without room for all endpoints is told, and the Gateway is served', () => {
  const routes = [routeWith({ rules: [rule('a', path('PathPrefix', '/')), rule('b', path('PathPrefix', '/b'))] })]
  const poolOf: typeof surroundings.poolOf = (name, backend) => ({
    ...surroundings.poolOf(name, backend),
    leftOut: backend.service === 'shop/a' ? 3 : 0,
  })
  const made = compileGateway(gatewayWith([http('web')]), routes, { ...surroundings, poolOf })
  expect(made.wanted?.content.pools).toHaveLength(2)
  expect(made.crowded).toEqual([
    expect.objectContaining({ reason: 'EndpointsLeftOut', message: expect.stringMatching(/^shop\/a:8080.* 10000 /) }),
  ])
  expect(compileGateway(gatewayWith([http('web')]), routes, surroundings).crowded).toEqual([])
})
