import type { RouteCondition } from '@spout/model'
import { byLength } from '@spout/testkit/long-tests'
import { matchRoutes, type RoutedRequest } from '@spout/testkit/match-routes'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CompiledRoutes, compileRoutes, type Outcome, unreachableRoutes } from './compile-routes.ts'
import { hostClassKey } from './host-classes.ts'
import { lookupText } from './path-classes.ts'

interface Route {
  readonly conditions: readonly RouteCondition[]
}

/** The classes of hosts have no order. */
const listed = ({ hosts, ...rest }: CompiledRoutes<Route>) => ({ ...rest, hosts: new Map(hosts) })

/** Finds the route as a proxy does: one lookup for each kind of host class, then the longest text. */
function lookUp({ hosts }: CompiledRoutes<Route>, request: RoutedRequest): Route | null {
  const { host, path } = request
  const name = (host ?? '').split(/[:/]/)[0]!.toLowerCase().replace(/\.+$/, '')
  const behind = name.includes('.') ? name.slice(name.indexOf('.') + 1) : ''
  const labels = behind.split('.')
  const keys = [
    hostClassKey({ is: 'exact', name }),
    ...(behind === '' ? [] : [hostClassKey({ is: 'one-label', name: behind })]),
    ...labels.map((_, at) => hostClassKey({ is: 'any-labels', name: labels.slice(at).join('.') })),
    hostClassKey({ is: 'any', name: '' }),
  ]
  const paths = keys.map((key) => hosts.get(key)?.paths).find((rows) => rows !== undefined)!
  const text = path === null ? '.' : `${path}/.`
  const found = paths
    .map((row) => ({ row, key: lookupText(row.path) }))
    .map(({ row, key }) => ({ row, key: `${key.text}${key.ends ? '.' : ''}` }))
    .filter(({ key }) => text.startsWith(key))
    .toSorted((a, b) => b.key.length - a.key.length)[0]!
  return choose(found.row.outcome, request)
}

function choose(outcome: Outcome<Route>, request: RoutedRequest): Route | null {
  if ('route' in outcome) return outcome.route
  if ('methods' in outcome)
    return outcome.methods.has(request.method) ? outcome.methods.get(request.method)! : outcome.other
  const at = matchRoutes(
    outcome.tests.map(({ all }) => ({ conditions: all })),
    request,
  )
  return at === null ? outcome.other : outcome.tests[at]!.route
}

const on = (compare: 'exact' | 'one-label' | 'any-labels', values: string[], not = false): RouteCondition => ({
  on: 'host',
  compare,
  values,
  not,
})
const path = (compare: 'exact' | 'elements' | 'prefix', values: string[], not = false): RouteCondition => ({
  on: 'path',
  compare,
  values,
  not,
})
const methods = (values: ('GET' | 'POST' | 'PUT')[], not = false): RouteCondition => ({ on: 'method', values, not })
const header = (
  compare: 'exact' | 'prefix' | 'ends-with' | 'contains' | 'regex',
  values: string[],
  not = false,
): RouteCondition => ({ on: 'header', name: 'x-a', compare, values, not })
const route = (...conditions: RouteCondition[]): Route => ({ conditions })

const names = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const paths = fc
  .array(fc.constantFrom('/', 'a', 'b', '/a', '/b'), { maxLength: 4 })
  .map((parts) => `/${parts.join('')}`)
const listOf = <T>(one: fc.Arbitrary<T>) => fc.uniqueArray(one, { minLength: 1, maxLength: 3 })
const rarely = fc.boolean().chain((first) => (first ? fc.boolean() : fc.constant(false)))

const condition: fc.Arbitrary<RouteCondition> = fc.oneof(
  fc
    .tuple(fc.constantFrom('exact', 'one-label', 'any-labels'), listOf(names), rarely)
    .map(([compare, values, not]) => on(compare, values, not)),
  fc
    .tuple(fc.constantFrom('exact', 'elements', 'prefix'), listOf(paths), rarely)
    .map(([compare, values, not]) => path(compare, values, not)),
  fc.tuple(listOf(fc.constantFrom('GET', 'POST', 'PUT')), rarely).map(([values, not]) => methods(values, not)),
  fc
    .tuple(fc.constantFrom('exact', 'prefix', 'ends-with', 'contains'), listOf(fc.constantFrom('a', 'b', 'ab')), rarely)
    .map(([compare, values, not]) => header(compare, values, not)),
  fc
    .tuple(fc.constantFrom('ends-with', 'contains'), listOf(fc.constantFrom('a', '/b')), rarely)
    .map(([compare, values, not]) => ({ on: 'path' as const, compare, values, not })),
  fc
    .tuple(fc.constantFrom('prefix', 'ends-with', 'contains'), listOf(fc.constantFrom('a', '.b')), rarely)
    .map(([compare, values, not]) => ({ on: 'host' as const, compare, values, not })),
)
const table = fc.array(
  fc.array(condition, { maxLength: 4 }).map((conditions) => route(...conditions)),
  { maxLength: 12 },
)
const request: fc.Arbitrary<RoutedRequest> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  host: fc.option(
    fc.tuple(names, fc.constantFrom('', ':80', '.', '.:8080'), fc.boolean()).map(([name, rest, upper]) => {
      const host = `${name}${rest}`
      return upper ? host.toUpperCase() : host
    }),
  ),
  path: fc.option(paths, { freq: 20 }),
  headers: fc.array(
    fc.constantFrom('a', 'b', 'a, b', 'ab,a').map((line) => ['X-A', line] as const),
    { maxLength: 2 },
  ),
})

describe('compiled routes', () => {
  test('take the same requests as trying one route after the other', () => {
    fc.assert(
      fc.property(table, fc.array(request, { minLength: 20, maxLength: 60 }), (routes, requests) => {
        const compiled = compileRoutes(routes)!
        for (const one of requests) {
          const at = matchRoutes(routes, one)
          expect(lookUp(compiled, one), JSON.stringify(one)).toBe(at === null ? null : routes[at])
        }
      }),
      { numRuns: byLength(100, 1_000) },
    )
  })

  test('of a changed table are those of a new one, and take the same requests', () => {
    const step = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 2 }),
      add: fc.array(fc.array(condition, { maxLength: 4 }), { maxLength: 2 }),
      move: fc.option(fc.nat(), { freq: 4 }),
    })
    fc.assert(
      fc.property(
        table,
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.array(request, { minLength: 5, maxLength: 15 }),
        (first, steps, requests) => {
          let routes: readonly Route[] = first
          let compiled = compileRoutes(routes)!
          for (const { at, remove, add, move } of steps) {
            routes = routes.toSpliced(at % (routes.length + 1), remove, ...add.map((all) => route(...all)))
            const moved = move === null ? undefined : routes[move % routes.length]
            if (moved !== undefined) routes = [moved, ...routes.filter((one) => one !== moved)]
            compiled = compileRoutes(routes, compiled)!
            expect(listed(compiled)).toEqual(listed(compileRoutes(routes)!))
            for (const one of requests) {
              const taker = matchRoutes(routes, one)
              expect(lookUp(compiled, one), JSON.stringify(one)).toBe(taker === null ? null : routes[taker])
            }
          }
        },
      ),
      { numRuns: byLength(50, 500) },
    )
  })

  test('of hosts that a change does not concern stay the same objects', () => {
    const [a, b, c, any] = [
      route(on('exact', ['a.example.com'])),
      route(on('exact', ['b.example.com'])),
      route(on('exact', ['c.example.com'])),
      route(path('elements', ['/x'])),
    ]
    const before = compileRoutes([a, b, any])!
    const key = (name: string) => hostClassKey({ is: 'exact', name })
    const more = compileRoutes([c, a, b, any], before)!
    for (const name of ['a.example.com', 'b.example.com'])
      expect(more.hosts.get(key(name))).toBe(before.hosts.get(key(name)))
    expect(more.hosts.size).toBe(4)
    // A route that changes nothing for the hosts before it.
    const last = compileRoutes([c, a, b, any, route()], more)!
    expect(last.hosts.get(key('a.example.com'))?.paths).toBe(more.hosts.get(key('a.example.com'))?.paths)
    expect(last.hosts.get('any ')).not.toBe(more.hosts.get('any '))
    // If two routes change places, only one host differs.
    const exchanged = compileRoutes([a, c, b, any], more)!
    expect(exchanged.hosts.get(key('b.example.com'))).toBe(more.hosts.get(key('b.example.com')))
    expect([...exchanged.hosts.differing(more.hosts)]).toHaveLength(1)
    const fewer = compileRoutes([c, b, any], more)!
    expect([...fewer.hosts.keys()].toSorted()).toEqual(['any ', key('b.example.com'), key('c.example.com')].toSorted())
    // A route for a wildcard changes the hosts below it.
    const wild = compileRoutes([route(on('any-labels', ['example.com'])), c, b, any], fewer)!
    expect(wild.hosts.get(key('b.example.com'))).not.toBe(fewer.hosts.get(key('b.example.com')))
  })

  test('of the reference agree with the words of the documentation', () => {
    const rows: readonly (readonly [RouteCondition, Partial<RoutedRequest>, boolean])[] = [
      [on('exact', ['a.example.com']), { host: 'A.example.com:80' }, true],
      [on('exact', ['a.example.com']), { host: 'a.example.com.' }, true],
      [on('exact', ['example.com']), { host: 'a.example.com' }, false],
      [on('one-label', ['example.com']), { host: 'a.example.com' }, true],
      [on('one-label', ['example.com']), { host: 'b.a.example.com' }, false],
      [on('one-label', ['example.com']), { host: 'example.com' }, false],
      [on('any-labels', ['example.com']), { host: 'b.a.example.com' }, true],
      [on('any-labels', ['example.com']), { host: 'example.com' }, false],
      [on('any-labels', ['example.com']), { host: 'notexample.com' }, false],
      [on('exact', ['a.example.com'], true), { host: null }, true],
      [path('elements', ['/foo']), { path: '/foo' }, true],
      [path('elements', ['/foo/']), { path: '/foo' }, true],
      [path('elements', ['/foo']), { path: '/foo/bar' }, true],
      [path('elements', ['/foo']), { path: '/foobar' }, false],
      [path('prefix', ['/foo']), { path: '/foobar' }, true],
      [path('prefix', ['/foo/']), { path: '/foo' }, false],
      [path('exact', ['/foo']), { path: '/foo/' }, false],
      [path('exact', ['/foo']), { path: '/Foo' }, false],
      [path('exact', ['/foo'], true), { path: null }, true],
      [methods(['GET']), { method: 'get' }, false],
      [{ on: 'path', compare: 'ends-with', values: ['.png'], not: false }, { path: '/a.png' }, true],
      [{ on: 'path', compare: 'contains', values: ['x'], not: true }, { path: null }, true],
      [{ on: 'host', compare: 'prefix', values: ['shop.'], not: false }, { host: 'SHOP.test' }, true],
      [{ on: 'host', compare: 'regex', values: ['^SHOP[0-9]'], not: false }, { host: 'shop1.test' }, true],
      [header('exact', ['b']), { headers: [['x-a', 'a, b']] }, true],
      [header('exact', ['a, b']), { headers: [['x-a', 'a, b']] }, true],
      [header('exact', ['a'], true), {}, true],
      [
        { on: 'cookie', name: 'id', compare: 'exact', values: ['1'], not: false },
        { headers: [['cookie', 'a=2; id=1']] },
        true,
      ],
      [{ on: 'query', name: 'q', compare: 'exact', values: [''], not: false }, { query: 'a=1&q' }, true],
      [{ on: 'source', values: ['10.0.0.0/8'], not: false }, { source: '10.1.2.3' }, true],
      [{ on: 'client-certificate', values: ['present'], not: false }, { client: {} }, true],
      [{ on: 'client-certificate', values: ['present'], not: true }, {}, true],
      [{ on: 'client-name', name: 'cn', compare: 'exact', values: ['a'], not: false }, { client: { CN: 'a' } }, true],
      [{ on: 'client-name', name: 'CN', compare: 'exact', values: [''], not: false }, {}, false],
    ]
    for (const [condition, given, expected] of rows) {
      const one = { method: 'GET', host: null, path: '/', ...given }
      expect(matchRoutes([route(condition)], one) === 0, JSON.stringify([condition, given])).toBe(expected)
    }
  })

  test('contain those of wildcards and without a host, so that no lookup goes back', () => {
    const routes = [
      route(on('exact', ['a.example.com']), path('elements', ['/x'])),
      route(on('any-labels', ['example.com']), path('elements', ['/y'])),
      route(),
    ]
    const rows = [...compileRoutes(routes)!.hosts.values()].map(({ host, paths }) => [
      `${host.is} ${host.name}`,
      paths.map(
        ({ path: { is, text }, outcome }) =>
          `${is} ${text}: ${routes.indexOf(choose(outcome, { method: '', host: null, path: null })!)}`,
      ),
    ])
    expect(Object.fromEntries(rows)).toEqual({
      'any ': ['prefix : 2'],
      'exact a.example.com': ['prefix : 2', 'prefix /x/: 0', 'prefix /y/: 1'],
      'any-labels example.com': ['prefix : 2', 'prefix /y/: 1'],
    })
  })

  test('name routes that no request reaches', () => {
    const routes = [
      route(on('one-label', ['example.com'])),
      route(on('exact', ['a.example.com'])),
      route(path('elements', ['/a'])),
      route(path('exact', ['/a/b']), methods(['GET'])),
      route(methods(['GET']), methods(['POST'])),
    ]
    expect(unreachableRoutes(compileRoutes(routes)!).map((one) => routes.indexOf(one))).toEqual([1, 3, 4])
  })

  test('are bounded where many hosts meet many routes without one', () => {
    const hosts = Array.from({ length: 5_000 }, (_, at) =>
      route(on('exact', [`h${at}.example.com`]), path('elements', ['/a'])),
    )
    const others = Array.from({ length: 5_000 }, (_, at) => route(path('elements', [`/p${at}`])))
    expect(compileRoutes([...hosts.slice(0, 1_000), ...others.slice(0, 1_000)])).toBeNull()
    expect(compileRoutes([...hosts, route()])?.hosts.size).toBe(5_001)
    expect(compileRoutes(others)?.hosts.size).toBe(1)
  })
})
