import type { HttpRoute, Listener, Pool, RouteAction, RouteCondition } from '@spout/model'
import { listenerOf, metaOf, poolOf } from '@spout/testkit/model'
import { describe, expect, test } from 'vitest'
import { type ResolveContext, resolveLoadBalancer } from './resolve.ts'

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
const CONTEXT: ResolveContext = {
  currentNetworkId: null,
  networks: [],
  useOfCertificate: () => null,
  forbidden: () => null,
  occupant: () => null,
}

const routeOf = (number: number, action: RouteAction, conditions: RouteCondition[] = []): HttpRoute => ({
  ...metaOf(id(number)),
  tags: [],
  enabled: true,
  conditions,
  action,
})
const to = (...pools: number[]): RouteAction => ({
  type: 'forward',
  pools: pools.map((number) => ({ poolId: id(number), weight: 1 })),
})
const respond: RouteAction = { type: 'respond', code: 404 }

function problemOf(listeners: readonly Listener[], pools: readonly Pool[]): unknown {
  const resolution = resolveLoadBalancer({ listeners: [...listeners], pools: [...pools], vips: [] }, CONTEXT)
  return 'problem' in resolution ? resolution.problem : null
}
const http = (routes: HttpRoute[]) => listenerOf(id(1), 80, { protocol: 'http', routes })

describe('routes of a listener', () => {
  test('may name pools that carry HTTP', () => {
    const pools = [poolOf(id(2), [], { protocol: 'http' }), poolOf(id(3), [], { protocol: 'tcp-proxy-v2' })]
    expect(problemOf([http([routeOf(10, to(2, 3)), routeOf(11, respond)])], pools)).toBeNull()
  })

  test('need pools of the same load balancer', () => {
    expect(problemOf([http([routeOf(10, respond), routeOf(11, to(2))])], [])).toEqual({
      code: 'ReferenceNotFound',
      params: { field: 'listeners[0].routes[1].action.pools[0].poolId', what: 'pool', id: id(2) },
    })
  })

  test('need pools that a proxy can send HTTP to', () => {
    expect(problemOf([http([routeOf(10, to(2))])], [poolOf(id(2), [])])).toEqual({
      code: 'InvalidField',
      params: {
        field: 'listeners[0].routes[0].action.pools[0].poolId',
        reason: `a listener of protocol http cannot use pool ${id(2)} of protocol tcp`,
      },
    })
  })

  test('cannot share a pool with the default of a listener that is balanced in another way', () => {
    const other = listenerOf(id(4), 81, { protocol: 'tcp-proxy', defaultPoolId: id(2) })
    const pool = poolOf(id(2), [], { protocol: 'tcp-proxy-v1' })
    expect(problemOf([other, http([routeOf(10, to(2))])], [pool])).toMatchObject({
      code: 'Unsupported',
      params: { field: 'listeners[1].routes[0].action.pools[0].poolId' },
    })
  })

  test('belong to HTTP', () => {
    expect(problemOf([listenerOf(id(1), 80, { routes: [routeOf(10, respond)] })], [])).toEqual({
      code: 'InvalidField',
      params: {
        field: 'listeners[0].routes',
        reason: 'belongs to listeners of protocol http, https, tls and tls-passthrough, not tcp',
      },
    })
  })

  test('have ids of their own', () => {
    expect(problemOf([http([routeOf(10, respond), routeOf(10, respond)])], [])).toEqual({
      code: 'InvalidField',
      params: {
        field: 'listeners[0].routes[1].id',
        reason: `another part of this load balancer has route id ${id(10)}`,
      },
    })
  })

  test('are refused where they would make a table without bounds', () => {
    const named = Array.from({ length: 500 }, (_, at) =>
      routeOf(1_000 + at, respond, [
        { on: 'host', compare: 'exact', values: [`h${at}.example.com`], not: false },
        { on: 'path', compare: 'elements', values: ['/a'], not: false },
      ]),
    )
    const others = Array.from({ length: 500 }, (_, at) =>
      routeOf(2_000 + at, respond, [{ on: 'path', compare: 'elements', values: [`/p${at}`], not: false }]),
    )
    expect(problemOf([http([...named, ...others])], [])).toMatchObject({
      code: 'Unsupported',
      params: { field: 'listeners[0].routes', reason: expect.stringContaining('make too large a table') },
    })
    expect(problemOf([http([...named, ...others.slice(0, 20)])], [])).toBeNull()
  })

  test('need regular expressions that an automaton of bounded size decides, and not too many', () => {
    const matching = (...values: string[]): RouteCondition => ({ on: 'path', compare: 'regex', values, not: false })
    expect(problemOf([http([routeOf(10, respond), routeOf(11, respond, [matching('a', 'a.{12}b')])])], [])).toEqual({
      code: 'InvalidField',
      params: {
        field: 'listeners[0].routes[1].conditions[0].values[1]',
        reason: 'needs too large an automaton: count less, or begin with ^',
      },
    })
    const routes = Array.from({ length: 51 }, (_, at) => routeOf(at + 10, respond, [matching(`a${at}`)]))
    expect(problemOf([http(routes.slice(1))], [])).toBeNull()
    expect(problemOf([http(routes)], [])).toMatchObject({
      params: {
        field: 'listeners[0].routes',
        reason: 'have 51 different regular expressions; a listener has at most 50',
      },
    })
  })
})

describe('cross-origin requests', () => {
  const cors = (change: object = {}): RouteAction => ({
    ...(to(2) as RouteAction & { readonly type: 'forward' }),
    filters: [
      {
        ...{ type: 'cors', origins: ['*'], methods: ['GET'], headers: [], exposeHeaders: [] },
        ...{ credentials: false, maxAgeSeconds: 5 },
        ...change,
      },
    ],
  })
  const methods = (not: boolean, ...values: ('GET' | 'OPTIONS')[]): RouteCondition => ({ on: 'method', values, not })
  const pool = poolOf(id(2), [], { protocol: 'http' })
  const at = (action: RouteAction, ...conditions: RouteCondition[]) =>
    problemOf([http([routeOf(10, action, conditions)])], [pool])

  test('are answered where preflight requests come', () => {
    for (const conditions of [[], [methods(false, 'GET', 'OPTIONS')], [methods(true, 'GET')]])
      expect(at(cors(), ...conditions)).toBeNull()
  })

  test.each([[methods(false, 'GET')], [methods(true, 'OPTIONS')]])(
    'are not answered where %j keeps preflight requests out',
    (condition) => {
      expect(at(cors(), condition)).toMatchObject({
        code: 'InvalidField',
        params: { field: 'listeners[0].routes[0].action.filters[0]' },
      })
    },
  )

  test('with credentials see only headers that are named', () => {
    expect(at(cors({ credentials: true, exposeHeaders: ['x-a', '*'] }))).toMatchObject({
      code: 'InvalidField',
      params: { field: 'listeners[0].routes[0].action.filters[0].exposeHeaders[1]' },
    })
    expect(at(cors({ exposeHeaders: ['*'] }))).toBeNull()
  })
})
