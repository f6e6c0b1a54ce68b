import { MOST_REGEXES } from '@spout/model/regex'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RouteObject } from '../../objects/route.ts'
import { routeIdOf } from '../../objects/route.ts'
import {
  connectionRoute,
  gatewayWith,
  grpcRouteWith,
  http,
  listener,
  routeWith,
  serviceOf,
  surroundingsOf,
  to,
} from '../../testing/objects.ts'
import { compileGateway } from './compile-gateway.ts'
import { CompiledRoutes, type CompileRoute, compileRoute } from './compiled-routes.ts'
import { GatewayCompilation, type StaleParts } from './gateway-compilation.ts'

const GATEWAY = gatewayWith([
  http('any'),
  http('wide', { hostname: '*.x.org' }),
  http('secure', { port: 443, protocol: 'HTTPS', hostname: 'w.x.org', tls: { certificateRefs: [{ name: 'tls' }] } }),
  listener('passed', 'TLS', 8443, { hostname: '*.x.org' }),
  listener('tcp', 'TCP', 53),
])
const HOSTS = ['w.x.org', '*.x.org', '*.y.org', 'a.b.x.org', 'q.org']
const host = fc.constantFrom(...HOSTS)
const path = fc.record({
  type: fc.constantFrom('Exact', 'PathPrefix', 'RegularExpression'),
  value: fc.constantFrom('/', '/a', '/a/b'),
})
const backend = fc.record({ service: fc.constantFrom('a', 'b', 'none'), weight: fc.integer({ min: 0, max: 2 }) })
const KINDS = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'] as const
const change = fc.record({
  kind: fc.constantFrom('HTTPRoute', 'HTTPRoute', ...KINDS),
  number: fc.integer({ min: 0, max: 7 }),
  age: fc.integer({ min: 1, max: 3 }),
  hosts: fc.uniqueArray(host, { maxLength: 3 }),
  paths: fc.array(path, { maxLength: 2 }),
  backends: fc.array(backend, { maxLength: 2 }),
  section: fc.constantFrom(undefined, undefined, 'any', 'wide', 'elsewhere'),
  isGone: fc.boolean(),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

function routeOf({ kind, number, age, hosts, paths, backends, section }: Change): RouteObject {
  // No two objects have the same UID, also if only their kinds differ.
  const unique = 10 * (KINDS.indexOf(kind) + 1) + number
  const metadata = { name: `r${number}`, number: unique, createdAt: `2026-01-0${age}T00:00:00Z` }
  const refs = backends.map(({ service, weight }) => to(service, { weight }))
  const parentRefs = [{ name: 'web', namespace: 'shop', ...(section !== undefined && { sectionName: section }) }]
  const hostnames = hosts
  switch (kind) {
    case 'GRPCRoute':
      return grpcRouteWith({ parentRefs, hostnames, rules: [{ backendRefs: refs }] }, metadata)
    case 'TLSRoute':
      return connectionRoute(kind, refs, metadata, { parentRefs, hostnames })
    case 'TCPRoute':
      return connectionRoute(kind, refs, metadata, { parentRefs })
    default: {
      const matches = paths.map((one) => ({ path: one }))
      return routeWith({ parentRefs, hostnames, rules: [{ matches: matches as never, backendRefs: refs }] }, metadata)
    }
  }
}

/** A route whose expressions leave room for one more. */
const EXPRESSIVE = routeWith(
  {
    rules: Array.from({ length: MOST_REGEXES - 1 }, (_, at) => ({
      matches: [{ path: { type: 'RegularExpression' as const, value: `/many-${at}.*` } }],
    })),
  },
  { name: 'expressive', number: 99, createdAt: '2026-01-02T00:00:00Z' },
)

/** Services of which the one with this number has another port, or is gone. */
const surroundings = (turn: number) => ({
  ...surroundingsOf([
    serviceOf('a'),
    ...(turn % 3 === 0 ? [] : [serviceOf('b', { ports: [{ name: 'http', port: 8080, targetPort: 3000 + turn }] })]),
  ]),
  domains: ['*.x.org'],
})

const LONGEST_MS = byLength(20_000, 600_000)

test('gives after any changes what compiling the whole gives', { timeout: LONGEST_MS }, () => {
  const step = fc.record({ changes: fc.array(change, { minLength: 1, maxLength: 3 }), turnsServices: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.boolean(), (steps, hasManyExpressions) => {
      const compilation = new GatewayCompilation()
      const { compile } = new CompiledRoutes()
      const routes = new Map<string, RouteObject>()
      if (hasManyExpressions) routes.set(routeIdOf(EXPRESSIVE), EXPRESSIVE)
      const source = { get: (id: string) => routes.get(id), all: () => [...routes.values()] }
      let turn = 1
      for (const { changes, turnsServices } of steps) {
        const stale = new Set<string>()
        for (const one of changes) {
          const route = routeOf(one)
          stale.add(routeIdOf(route))
          if (one.isGone) routes.delete(routeIdOf(route))
          else routes.set(routeIdOf(route), route)
        }
        if (turnsServices) {
          turn++
          for (const id of routes.keys()) stale.add(id)
        }
        const now = surroundings(turn)
        const made = compilation.compile(GATEWAY, stale, source, { ...now, compile })
        expect(made).toEqual(compileGateway(GATEWAY, source.all(), now))
      }
    }),
    { numRuns: byLength(30, 500) },
  )
})

test('a route that changes is compiled alone, also one with expressions while there is room for them', () => {
  const withPath = (number: number, type: 'PathPrefix' | 'RegularExpression', value: string) =>
    routeWith(
      { rules: [{ matches: [{ path: { type, value } }], backendRefs: [to('a')] }] },
      { name: `r${number}`, number },
    )
  const routes = new Map(
    Array.from({ length: 20 }, (_, number) => {
      const route = withPath(number, number % 2 === 0 ? 'RegularExpression' : 'PathPrefix', `/${number}`)
      return [routeIdOf(route), route]
    }),
  )
  const source = { get: (id: string) => routes.get(id), all: () => [...routes.values()] }
  const compilation = new GatewayCompilation()
  const compiled: string[] = []
  const compile: CompileRoute = (route, ...rest) => {
    compiled.push(route.metadata.name ?? '')
    return compileRoute(route, ...rest)
  }
  const changed = (number: number, route: RouteObject | null) => {
    const id = `HTTPRoute/shop/r${number}`
    if (route === null) routes.delete(id)
    else routes.set(id, route)
    compiled.splice(0)
    const made = compilation.compile(GATEWAY, new Set([id]), source, { ...surroundings(1), compile })
    expect(made).toEqual(compileGateway(GATEWAY, source.all(), surroundings(1)))
    return new Set(compiled)
  }
  changed(0, withPath(0, 'RegularExpression', '/first'))
  for (const path of ['/other', '/(', '/other'])
    expect(changed(0, withPath(0, 'RegularExpression', path))).toEqual(new Set(['r0']))
  expect(changed(0, withPath(0, 'PathPrefix', '/plain'))).toEqual(new Set(['r0']))
  expect(changed(2, null)).toEqual(new Set())
})

test('a route that changes leaves the contents of the others as they are; nothing stale gives the same as before', () => {
  const routes = new Map(
    [1, 2, 3].map((number) => {
      const rules = [{ backendRefs: [to('a')] }]
      const route = routeWith({ hostnames: [`r${number}.x.org`], rules }, { name: `r${number}`, number })
      return [routeIdOf(route), route]
    }),
  )
  const source = { get: (id: string) => routes.get(id), all: () => [...routes.values()] }
  const compilation = new GatewayCompilation()
  const compile = (stale: StaleParts, gateway = GATEWAY) => compilation.compile(gateway, stale, source, surroundings(1))
  const first = compile('whole')
  const contentsOf = ({ wanted }: typeof first) =>
    wanted?.content.listeners.find(({ port }) => port === 80)?.routes ?? []
  const id = 'HTTPRoute/shop/r2'
  routes.set(id, routeWith({ hostnames: ['new.x.org'], rules: [] }, { name: 'r2', number: 2 }))
  // Nothing was declared stale.
  expect(compile('nothing')).toBe(first)
  const second = compile(new Set([id]))
  expect(contentsOf(second)).not.toEqual(contentsOf(first))
  const kept = contentsOf(second).filter((one) => contentsOf(first).includes(one))
  expect(kept.length).toBeGreaterThanOrEqual(2)
  // A changed status of the Gateway changes nothing. A changed spec does, whatever was declared stale.
  expect(compile('nothing', { ...GATEWAY, status: { addresses: [] } })).toBe(second)
  expect(compile('nothing', gatewayWith([http('any', { port: 81 })])).wanted?.content.listeners[0]?.port).toBe(81)
})
