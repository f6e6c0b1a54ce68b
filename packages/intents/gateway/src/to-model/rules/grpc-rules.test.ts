import { describe, expect, test } from 'vitest'
import type { GrpcRouteMatch, GrpcRouteRule } from '../../objects/grpc-route.ts'
import { gatewayWith, grpcRouteWith, http, routeWith, serviceOf, surroundingsOf, to } from '../../testing/objects.ts'
import { backendResolver } from '../gateways/backend-resolver.ts'
import { compileGateway } from '../gateways/compile-gateway.ts'
import { compileGrpcRules } from './grpc-rules.ts'
import { byPrecedence } from './precedence.ts'

const surroundings = surroundingsOf(['a', 'b', 'c'].map((name) => serviceOf(name)))
const compile = (rules?: readonly GrpcRouteRule[]) => {
  const route = grpcRouteWith(rules === undefined ? {} : { rules })
  const listener = { name: 'web', protocol: 'HTTP', port: 80 }
  return compileGrpcRules(route, [''], listener, backendResolver(route, surroundings))
}
const rule = (match: GrpcRouteMatch, name = 'a'): GrpcRouteRule => ({ matches: [match], backendRefs: [to(name)] })

describe('matches', () => {
  test.each([
    ['every request', {}, []],
    [
      'a method of a service',
      { method: { service: 'shop.v1.Cart', method: 'Add' } },
      [{ on: 'path', compare: 'exact', values: ['/shop.v1.Cart/Add'], not: false }],
    ],
    [
      'a service',
      { method: { service: 'shop.v1.Cart' } },
      [{ on: 'path', compare: 'elements', values: ['/shop.v1.Cart'], not: false }],
    ],
    [
      'a method of any service',
      { method: { method: 'Add' } },
      [{ on: 'path', compare: 'regex', values: ['^(?:/[^/]+/Add)$'], not: false }],
    ],
    [
      'expressions',
      { method: { type: 'RegularExpression', service: 'a|b', method: '' } },
      [{ on: 'path', compare: 'regex', values: ['^(?:/(?:a|b)/(?:[^/]+))$'], not: false }],
    ],
    [
      'metadata',
      { headers: [{ name: 'Env', value: 'next' }] },
      [{ on: 'header', name: 'env', compare: 'exact', values: ['next'], not: false }],
    ],
  ] as [string, GrpcRouteMatch, object[]][])('%s', (_, match, conditions) => {
    expect(compile([rule(match)]).routes.map(({ content }) => content.conditions)).toEqual([conditions])
  })

  test('the longest service stands first, then the longest method, then the most headers', () => {
    const { routes } = compile([
      rule({ method: { service: 'a.B' } }, 'a'),
      rule({ method: { service: 'a.B' }, headers: [{ name: 'x', value: '1' }] }, 'b'),
      rule({ method: { service: 'a.B', method: 'C' } }, 'c'),
      rule({ method: { service: 'a.BB' } }, 'a'),
    ])
    const sorted = routes.toSorted((a, b) => byPrecedence(a.precedence, b.precedence))
    expect(sorted.map(({ content }) => routes.findIndex((one) => one.content === content))).toEqual([3, 2, 1, 0])
  })
})

test('backends are spoken to in HTTP/2, in a pool apart from that of HTTPRoutes', () => {
  const { backends } = compile([rule({})])
  expect([...backends].map(([name, { http2 }]) => [name, http2])).toEqual([['shop/a:8080/h2', true]])
})

test('what does not resolve is answered so that clients see UNAVAILABLE', () => {
  expect(compile([rule({}, 'x')]).routes[0]?.content.action).toEqual({ type: 'respond', code: 503 })
  expect(compile().routes[0]?.content.action).toEqual({ type: 'respond', code: 503 })
  expect(compile([{ backendRefs: [to('a'), to('x')] }]).routes[0]?.content.action).toMatchObject({
    pools: [{ pool: 'shop/a:8080/h2', weight: 1 }],
    answered: { code: 503, weight: 1 },
  })
})

describe('beside an HTTPRoute of the same listener', () => {
  const older = { createdAt: '2025-01-01T00:00:00Z', name: 'older', number: 3 }
  const servedBy = (...routes: Parameters<typeof compileGateway>[1]) => {
    const made = compileGateway(gatewayWith([http('web')]), routes, surroundings)
    const actions = made.wanted?.content.listeners[0]?.routes?.map(({ action }) => action.type) ?? []
    return [made.listeners[0]?.attachedRoutes, actions.filter((type) => type === 'forward').length]
  }
  const backendRefs = [to('a')]

  test.each([
    ['a common name', ['a.org'], ['a.org'], [1, 1]],
    ['a wildcard', ['*.org'], ['a.org'], [1, 1]],
    ['all names', [], ['a.org'], [1, 1]],
    ['no common name', ['a.org'], ['b.org'], [2, 2]],
  ])('with %s', (_, names, others, expected) => {
    const grpc = grpcRouteWith({ hostnames: names, rules: [{ backendRefs }] }, older)
    expect(servedBy(routeWith({ hostnames: others, rules: [{ backendRefs }] }), grpc)).toEqual(expected)
  })

  test('the older one is served, and one that it keeps away keeps away no third', () => {
    const first = routeWith({ hostnames: ['a.org'], rules: [{ backendRefs }] }, older)
    const second = grpcRouteWith({ hostnames: ['a.org', 'b.org'], rules: [{ backendRefs }] }, { name: 's', number: 4 })
    const third = routeWith({ hostnames: ['b.org'], rules: [{ backendRefs }] }, { name: 't', number: 5 })
    expect(servedBy(second, first, third)).toEqual([2, 2])
  })
})
