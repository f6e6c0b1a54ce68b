import {
  type HttpRoute,
  httpRoute,
  type Listener,
  listenerTls,
  type Pool,
  poolTls,
  type RouteAction,
  type RouteCondition,
  routeAuthorizer,
  routeCondition,
} from '@spout/model'
import { listenerOf, metaOf, poolOf } from '@spout/testkit/model'
import { describe, expect, test } from 'vitest'
import { documentProblem } from './resolve.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const POOLS = [
  poolOf(id(2), [], { protocol: 'tcp-proxy' }),
  poolOf(id(3), [], { protocol: 'tcp-proxy-v2' }),
  poolOf(id(4), []),
]

const forward = (change: Partial<RouteAction & { type: 'forward' }> = {}): RouteAction => ({
  ...{ type: 'forward', pools: [2, 3, 4].map((number) => ({ poolId: id(number), weight: 1 })) },
  ...change,
})
const host = (compare: string, ...values: string[]): RouteCondition =>
  routeCondition.parse({ on: 'host', compare, values })
const routeOf = (action: RouteAction, ...conditions: RouteCondition[]): HttpRoute =>
  httpRoute.parse({ ...metaOf(id(10)), tags: [], conditions, action })

function problemOf(change: Partial<Listener>, pools: readonly Pool[] = POOLS): unknown {
  const listeners = [listenerOf(id(1), 443, { protocol: 'tls-passthrough', ...change })]
  const found = documentProblem({ listeners, pools: [...pools] }, { useOfCertificate: () => 'any' })
  return found === null ? null : [found.code, found.params.field, found.params.reason]
}

describe('a listener that passes TLS on', () => {
  test('has routes by names that forward to pools of proxied TCP', () => {
    const routes = [
      routeOf(forward(), host('exact', 'a.example', 'b.example')),
      { ...routeOf(forward(), host('one-label', 'example'), host('any-labels', 'a.example')), id: id(11) },
      { ...routeOf(forward()), id: id(12) },
    ]
    expect(problemOf({ routes, defaultPoolId: id(2) })).toBeNull()
  })

  test.each<[RouteCondition, string, RegExp]>([
    [host('prefix', 'a'), 'compare', /^prefix: names are compared as exact, one-label and any-labels alone/],
    [host('regex', 'a'), 'compare', /^regex: /],
    [routeCondition.parse({ on: 'path', compare: 'exact', values: ['/a'] }), 'on', /^path: only the name/],
    [routeCondition.parse({ on: 'method', values: ['GET'] }), 'on', /^method: only the name/],
    [routeCondition.parse({ on: 'source', values: ['10.0.0.0/8'] }), 'on', /^source: only the name/],
    [routeCondition.parse({ on: 'client-certificate', values: ['present'] }), 'on', /^client-certificate: /],
  ])('cannot have the condition %j', (condition, field, reason) => {
    expect(problemOf({ routes: [routeOf(forward(), host('exact', 'a'), condition)] })).toEqual([
      'InvalidField',
      `listeners[0].routes[0].conditions[1].${field}`,
      expect.stringMatching(reason),
    ])
  })

  test.each<[RouteAction, string, RegExp]>([
    [{ type: 'respond', code: 404 }, 'type', /^respond: answers are within TLS/],
    [httpRedirect(), 'type', /^redirect: answers are within TLS/],
    [forward({ filters: [{ type: 'rewrite', host: 'a', path: null, prefix: null }] }), 'filters', /within TLS/],
    [forward({ timeouts: { requestMs: 1, backendRequestMs: null } }), 'timeouts', /within TLS/],
    [forward({ authorizer: routeAuthorizer.parse({ poolId: id(2) }) }), 'authorizer', /within TLS/],
    [forward({ answered: { code: 503, weight: 1 } }), 'answered', /within TLS/],
    [forward({ clientRate: { requests: 1, perSeconds: 1, burst: 0 } }), 'clientRate', /within TLS/],
    [forward({ clientConcurrency: 1 }), 'clientConcurrency', /within TLS/],
    [forward({ maxBodyBytes: 1 }), 'maxBodyBytes', /within TLS/],
    [forward({ mirrors: [{ poolId: id(2), percent: 100 }] }), 'mirrors', /within TLS/],
    [
      forward({
        pools: [{ poolId: id(2), weight: 1, filters: [{ type: 'rewrite', host: 'a', path: null, prefix: null }] }],
      }),
      'pools[0].filters',
      /within TLS/,
    ],
    [forward({ retry: { attempts: 1, codes: [], backoffMs: 0 } }), 'retry', /within TLS/],
  ])('cannot have the action %j', (action, field, reason) => {
    expect(problemOf({ routes: [routeOf(action)] })).toEqual([
      'InvalidField',
      `listeners[0].routes[0].action.${field}`,
      expect.stringMatching(reason),
    ])
  })

  test('cannot have headers, certificates, or pools that carry HTTP or speak TLS themselves', () => {
    expect(problemOf({ insertHeaders: ['x-forwarded-for'] })).toEqual([
      'InvalidField',
      'listeners[0].insertHeaders',
      expect.stringContaining('within TLS'),
    ])
    expect(problemOf({ defaultPoolId: id(2) }, [poolOf(id(2), [], { protocol: 'http' })])).toEqual([
      'InvalidField',
      'listeners[0].defaultPoolId',
      `a listener of protocol tls-passthrough cannot use pool ${id(2)} of protocol http`,
    ])
    const sealed = poolOf(id(2), [], { protocol: 'tcp-proxy', tls: poolTls.parse({}) })
    expect(problemOf({ routes: [routeOf(forward({ pools: [{ poolId: id(2), weight: 1 }] }))] }, [sealed])).toEqual([
      'InvalidField',
      'listeners[0].routes[0].action.pools[0].poolId',
      expect.stringContaining('speaks TLS with its members'),
    ])
  })
})

function httpRedirect(): RouteAction {
  return { type: 'redirect', code: 301, scheme: 'https', host: null, port: null, path: null, pathPrefix: null }
}

describe('a listener that ends TLS of any connection', () => {
  const tls = listenerTls.parse({ certificateIds: [id(20)] })
  const ending = (change: Partial<Listener> = {}, pools?: readonly Pool[]) =>
    problemOf({ protocol: 'tls', tls, ...change }, pools)

  test('has certificates and routes by names; its pools may speak TLS', () => {
    const routes = [routeOf(forward(), host('exact', 'a.example'))]
    const [first, ...others] = POOLS
    expect(ending({ routes })).toBeNull()
    expect(ending({ routes }, [{ ...first!, tls: poolTls.parse({}) }, ...others])).toBeNull()
  })

  test.each<[string, Partial<Listener>, string, string, RegExp | undefined]>([
    ['no certificate', { tls: null }, 'MissingField', 'tls', undefined],
    [
      'HSTS',
      { tls: { ...tls, hsts: { maxAgeSeconds: 1, includeSubdomains: false, preload: false } } },
      ...(['InvalidField', 'tls.hsts', /^belongs to listeners of protocol https, not tls/] as const),
    ],
    ['headers', { insertHeaders: ['x-forwarded-for'] }, 'InvalidField', 'insertHeaders', /reads no requests/],
    [
      'a path',
      { routes: [routeOf(forward(), routeCondition.parse({ on: 'path', compare: 'exact', values: ['/a'] }))] },
      ...(['InvalidField', 'routes[0].conditions[0].on', /reads no requests/] as const),
    ],
  ])('cannot have %s', (_, change, code, field, reason) => {
    expect(ending(change)).toEqual([
      code,
      `listeners[0].${field}`,
      reason === undefined ? undefined : expect.stringMatching(reason),
    ])
  })
})
