import { describe, expect, test } from 'vitest'
import type { HttpRouteRule } from '../../objects/http-route.ts'
import { routeWith, serviceOf, surroundingsOf, to } from '../../testing/objects.ts'
import { backendResolver } from '../gateways/backend-resolver.ts'
import { compileRules } from './http-rules.ts'

const surroundings = surroundingsOf([serviceOf('a'), serviceOf('b')])
const compile = (
  rules: readonly HttpRouteRule[],
  hosts = [''],
  listener = { name: 'web', protocol: 'HTTP', port: 80 },
) => {
  const route = routeWith({ rules })
  return compileRules({ metadata: route.metadata, rules }, hosts, listener, backendResolver(route, surroundings))
}
const only = (rule: HttpRouteRule, hosts?: string[]) => {
  const { routes, dropped } = compile([rule], hosts)
  expect([...dropped.values()]).toEqual([])
  expect(routes).toHaveLength(1)
  return routes[0]!.content
}
const A = [to('a')]

describe('matches', () => {
  test.each([
    ['every request', undefined, []],
    ['the prefix of all paths', { path: { type: 'PathPrefix', value: '/' } }, []],
    [
      'a prefix, whose last slash does not count',
      { path: { type: 'PathPrefix', value: '/a/' } },
      [{ on: 'path', compare: 'elements', values: ['/a'], not: false }],
    ],
    [
      'an exact path',
      { path: { type: 'Exact', value: '/a/' } },
      [{ on: 'path', compare: 'exact', values: ['/a/'], not: false }],
    ],
    [
      'an expression for the whole path',
      { path: { type: 'RegularExpression', value: '/a|/b' } },
      [{ on: 'path', compare: 'regex', values: ['^(?:/a|/b)$'], not: false }],
    ],
    ['a method', { method: 'POST' }, [{ on: 'method', values: ['POST'], not: false }]],
    [
      'headers, the first of a name',
      {
        headers: [
          { name: 'X-A', value: '1' },
          { name: 'x-a', value: '2' },
          { type: 'RegularExpression', name: 'b', value: '.+' },
        ],
      },
      [
        { on: 'header', name: 'x-a', compare: 'exact', values: ['1'], not: false },
        { on: 'header', name: 'b', compare: 'regex', values: ['^(?:.+)$'], not: false },
      ],
    ],
    [
      'a query parameter',
      { queryParams: [{ name: 'Q', value: 'x' }] },
      [{ on: 'query', name: 'Q', compare: 'exact', values: ['x'], not: false }],
    ],
  ])('%s', (_, match, conditions) => {
    const content = only({ ...(match === undefined ? {} : { matches: [match] as never }), backendRefs: A })
    expect(content.conditions).toEqual(conditions)
  })

  test('exact names share a route, each wildcard has its own', () => {
    const { routes } = compile([{ backendRefs: A }], ['*.a.com', 'x.org', '*.b.a.com', 'y.org'])
    expect(routes.map(({ content }) => content.conditions)).toEqual([
      [{ on: 'host', compare: 'exact', values: ['x.org', 'y.org'], not: false }],
      [{ on: 'host', compare: 'any-labels', values: ['a.com'], not: false }],
      [{ on: 'host', compare: 'any-labels', values: ['b.a.com'], not: false }],
    ])
    expect(new Set(routes.map(({ content }) => content.name)).size).toBe(3)
  })

  test.each([
    ['an expression that no automaton decides', { path: { type: 'RegularExpression', value: '(a)\\1' } }],
    ['a header that no proxy should be told', { headers: [{ name: 'x', value: 'ä' }] }],
    ['a path with a line end', { path: { type: 'Exact', value: '/a\n/b' } }],
  ])('a rule is dropped for %s, the others stay', (_, match) => {
    const { routes, dropped } = compile([{ matches: [match as never], backendRefs: A }, { backendRefs: A }])
    expect(routes).toHaveLength(1)
    expect([...dropped].map(([at, { reason }]) => [at, reason])).toEqual([[0, 'UnsupportedValue']])
  })
})

describe('backends', () => {
  test('weights; one without weight gets nothing, one pool twice both', () => {
    const { action } = only({
      backendRefs: [to('a', { weight: 3 }), to('b'), to('a', { weight: 2 }), to('b', { weight: 0 })],
    })
    expect(action).toMatchObject({
      pools: [
        { pool: 'shop/a:8080', weight: 5 },
        { pool: 'shop/b:8080', weight: 1 },
      ],
    })
  })

  test.each([
    ['none', []],
    ['one that does not exist', [to('x')]],
    ['only weight 0', [to('a', { weight: 0 })]],
  ])('500 for a rule with %s', (_, backendRefs) => {
    expect(only({ backendRefs }).action).toEqual({ type: 'respond', code: 500 })
  })

  test('the share of those that do not resolve is answered with 500, and why is told', () => {
    const { routes, unresolved } = compile([{ backendRefs: [to('a'), to('x', { weight: 2 }), to('y')] }])
    expect(routes[0]?.content.action).toMatchObject({
      pools: [{ pool: 'shop/a:8080', weight: 1 }],
      answered: { code: 500, weight: 3 },
    })
    expect(unresolved?.reason).toBe('BackendNotFound')
  })

  test('a Service says that its endpoints speak HTTP/2', () => {
    const spec = (appProtocol: string) => ({ ports: [{ port: 8080, appProtocol }] })
    const own = surroundingsOf([serviceOf('a', spec('kubernetes.io/h2c')), serviceOf('b', spec('kubernetes.io/ws'))])
    const route = routeWith({ rules: [{ backendRefs: [to('a'), to('b')] }] })
    const { backends, unresolved } = compileRules(
      { metadata: route.metadata, rules: route.spec.rules ?? [] },
      [''],
      { name: 'web', protocol: 'HTTP', port: 80 },
      backendResolver(route, own),
    )
    expect([...backends].map(([name, { http2 }]) => [name, http2])).toEqual([
      ['shop/a:8080/h2', true],
      ['shop/b:8080', undefined],
    ])
    expect(unresolved).toBeNull()
  })
})

describe('filters', () => {
  const withFilters = (filters: object[], rule: object = {}) => ({ filters: filters as never, backendRefs: A, ...rule })
  const edits = { set: [{ name: 'a', value: '1' }], add: [{ name: 'b', value: '2' }], remove: ['c'] }
  const prefix = [{ path: { type: 'PathPrefix' as const, value: '/old' } }]

  test.each([
    [
      'request headers',
      { type: 'RequestHeaderModifier', requestHeaderModifier: edits },
      { type: 'request-headers', ...edits },
    ],
    [
      'response headers',
      { type: 'ResponseHeaderModifier', responseHeaderModifier: edits },
      { type: 'response-headers', ...edits },
    ],
    ['another host', { type: 'URLRewrite', urlRewrite: { hostname: 'x.org' } }, { type: 'rewrite', host: 'x.org' }],
    [
      'another path',
      { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '/x' } } },
      { type: 'rewrite', path: '/x' },
    ],
    [
      'another prefix',
      { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' } } },
      { type: 'rewrite', prefix: { from: '/old', to: '/new' } },
    ],
    [
      'no prefix',
      { type: 'URLRewrite', urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '' } } },
      { type: 'rewrite', prefix: { from: '/old', to: '/' } },
    ],
    [
      'CORS',
      {
        type: 'CORS',
        cors: { allowOrigins: ['https://*.x.org'], allowMethods: ['GET'], allowCredentials: true, maxAge: 60 },
      },
      { type: 'cors', origins: ['https://*.x.org'], methods: ['GET'], credentials: true, maxAgeSeconds: 60 },
    ],
  ])('%s', (_, filter, expected) => {
    const { action } = only(withFilters([filter], { matches: prefix }))
    expect(action).toMatchObject({ type: 'forward', filters: [expected] })
  })

  test.each([
    ['percent', { percent: 20 }, 20],
    ['a fraction', { fraction: { numerator: 1, denominator: 4 } }, 25],
    ['all', {}, 100],
  ])('a mirror of %s', (_, share, percent) => {
    const { action } = only(withFilters([{ type: 'RequestMirror', requestMirror: { backendRef: to('b'), ...share } }]))
    expect(action).toMatchObject({ mirrors: [{ pool: 'shop/b:8080', percent }] })
  })

  test.each([
    ['a scheme', 80, { scheme: 'https', statusCode: 301 }, { code: 301, scheme: 'https', port: null }],
    ['a host stays on the port of the listener', 8080, { hostname: 'x.org' }, { code: 302, host: 'x.org', port: 8080 }],
    ['the port of the scheme is not named', 8080, { port: 80 }, { port: null }],
    ['a port', 80, { port: 8443, scheme: 'https' }, { scheme: 'https', port: 8443 }],
    ['a path', 80, { path: { type: 'ReplaceFullPath', replaceFullPath: '/x' } }, { path: '/x' }],
  ])('redirects: %s', (_, port, requestRedirect, expected) => {
    const { routes } = compile([{ filters: [{ type: 'RequestRedirect', requestRedirect } as never] }], [''], {
      name: 'web',
      protocol: 'HTTP',
      port,
    })
    expect(routes[0]?.content.action).toMatchObject({ type: 'redirect', ...expected })
  })

  test.each([
    ['one of somebody else', [{ type: 'ExtensionRef' }], 'UnsupportedValue'],
    [
      'two of a type',
      [
        { type: 'CORS', cors: { allowOrigins: ['*'] } },
        { type: 'CORS', cors: {} },
      ],
      'UnsupportedValue',
    ],
    [
      'a header that belongs to the transfer',
      [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['Transfer-Encoding'] } }],
      'UnsupportedValue',
    ],
    [
      'a redirect beside a rewrite',
      [
        { type: 'RequestRedirect', requestRedirect: {} },
        { type: 'URLRewrite', urlRewrite: { hostname: 'x.org' } },
      ],
      'IncompatibleFilters',
    ],
  ])('a rule is dropped for %s: no filter is skipped', (_, filters, reason) => {
    const { routes, dropped } = compile([withFilters(filters)])
    expect([routes, dropped.get(0)?.reason]).toEqual([[], reason])
  })

  test('a rule is dropped for an expression that is too large for a proxy', () => {
    const path = { type: 'RegularExpression' as const, value: '/(?:[a-z]{1000}){1000}' }
    const { routes, dropped } = compile([{ matches: [{ path }], backendRefs: A }])
    expect([routes, dropped.get(0)]).toEqual([
      [],
      { reason: 'UnsupportedValue', message: expect.stringContaining('The expression is too long') },
    ])
  })

  test('a redirect replaces the prefix of its match, and needs one', () => {
    const path = { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' }
    const filters = [{ type: 'RequestRedirect', requestRedirect: { path } }]
    expect(only(withFilters(filters, { matches: prefix })).action).toMatchObject({
      type: 'redirect',
      path: null,
      prefix: { from: '/old', to: '/new' },
    })
    const exact = [{ path: { type: 'Exact' as const, value: '/old' } }]
    expect(compile([withFilters(filters, { matches: exact })]).dropped.get(0)?.reason).toBe('UnsupportedValue')
  })

  describe('of one backend among several', () => {
    const headers = { type: 'RequestHeaderModifier', requestHeaderModifier: edits }
    const own = { type: 'request-headers', ...edits }
    const rule = (...ofA: object[]) => ({ backendRefs: [to('a', { filters: ofA }), to('b')] }) as HttpRouteRule

    test('are of its share alone; those of an only backend are of the rule', () => {
      expect(only(rule(headers)).action).toMatchObject({
        pools: [{ pool: 'shop/a:8080', filters: [own] }, { pool: 'shop/b:8080' }],
      })
      expect(only({ backendRefs: [to('a', { filters: [headers] })] }).action).toMatchObject({ filters: [own] })
    })

    test.each([
      ['a mirror', rule({ type: 'RequestMirror', requestMirror: { backendRef: to('b') } })],
      ['CORS', rule({ type: 'CORS', cors: { allowOrigins: ['*'] } })],
      ['two of a type', rule(headers, headers)],
      ['one Service twice with different ones', { backendRefs: [to('a', { filters: [headers] }), to('a')] }],
    ])('are refused: %s', (_, refused) => {
      expect(compile([refused as HttpRouteRule]).dropped.get(0)?.reason).toBe('UnsupportedValue')
    })
  })

  test('retries of the experimental channel', () => {
    const retry = { codes: [500, 503], attempts: 3, backoff: '50ms' }
    expect(only({ backendRefs: A, retry }).action).toMatchObject({
      retry: { attempts: 3, codes: [500, 503], backoffMs: 50 },
    })
    expect(only({ backendRefs: A, retry: {} }).action).toMatchObject({
      retry: { attempts: 1, codes: [], backoffMs: 0 },
    })
    expect(only({ backendRefs: A }).action).not.toHaveProperty('retry')
    for (const wrong of [{ attempts: 6 }, { backoff: '1d' }, { backoff: '2m' }])
      expect(compile([{ backendRefs: A, retry: wrong }]).dropped.get(0)?.reason).toBe('UnsupportedValue')
  })

  test('time-outs', () => {
    const timeouts = { request: '1m30s', backendRequest: '500ms' }
    expect(only({ backendRefs: A, timeouts }).action).toMatchObject({
      timeouts: { requestMs: 90_000, backendRequestMs: 500 },
    })
    expect(only({ backendRefs: A, timeouts: { request: '0s' } }).action).toMatchObject({ timeouts: { requestMs: 0 } })
  })
})
