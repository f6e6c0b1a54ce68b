import { MOST_REGEXES } from '@spout/model/regex'
import { expect, test } from 'vitest'
import type { HttpRouteObject } from '../../objects/http-route.ts'
import type { RouteObject } from '../../objects/route.ts'
import { gatewayWith, grpcRouteWith, http, routeWith, serviceOf, surroundingsOf, to } from '../../testing/objects.ts'
import { compileGateway } from '../gateways/compile-gateway.ts'
import { routeOutcomes } from '../gateways/route-outcome.ts'
import { expressionsOf } from './expressions.ts'

const gateway = gatewayWith([http('web')])
const surroundings = surroundingsOf([serviceOf('web')])
/** A route with an expression for each text; a smaller number is older. */
const withExpressions = (number: number, ...texts: readonly string[]): HttpRouteObject =>
  routeWith(
    {
      hostnames: [`${number}.example.org`],
      rules: texts.map((text) => ({
        matches: [{ path: { type: 'RegularExpression' as const, value: text } }],
        backendRefs: [to('web')],
      })),
    },
    { name: `r${number}`, number: number + 10, createdAt: `2026-01-01T00:00:${String(number).padStart(2, '0')}Z` },
  )
const many = (number: number) => Array.from({ length: number }, (_, at) => `/many-${at}.*`)
const servedOf = (routes: readonly RouteObject[]) =>
  (compileGateway(gateway, routes, surroundings).wanted?.content.listeners[0]?.routes ?? []).flatMap(
    ({ action, conditions }) =>
      action.type === 'forward' ? conditions.flatMap((one) => (one.on === 'host' ? one.values : [])) : [],
  )
const refusalOf = (route: RouteObject, routes: readonly RouteObject[]) =>
  routeOutcomes(
    route,
    () => gateway,
    surroundings,
    () => routes,
    () => [],
  )[0]?.refused?.reason ?? null

test('expressions of all kinds of matches count, those of rules that are dropped do not', () => {
  expect([...expressionsOf(withExpressions(1, '/a.*', '/('))]).toEqual(['^(?:/a.*)$'])
  const value = { type: 'RegularExpression' as const, name: 'x', value: 'b+' }
  const matches = [{ headers: [value], queryParams: [{ ...value, value: 'c+' }] }]
  expect([...expressionsOf(routeWith({ rules: [{ matches }] }))]).toEqual(['^(?:b+)$', '^(?:c+)$'])
  const method = { type: 'RegularExpression' as const, service: 'shop[.].*' }
  expect(expressionsOf(grpcRouteWith({ rules: [{ matches: [{ method }] }] })).size).toBe(1)
  expect(expressionsOf(routeWith({ rules: [{ matches: [{ path: { value: '/RegularExpression' } }] }] })).size).toBe(0)
})

test('the youngest routes with too many expressions are not accepted, and keep no other from being served', () => {
  const old = withExpressions(1, ...many(MOST_REGEXES - 1))
  const greedy = withExpressions(2, '/x.*', '/y.*')
  const same = withExpressions(3, '/many-0.*', '/z.*')
  const last = withExpressions(4, '/last.*')
  const plain = routeWith({ hostnames: ['plain.example.org'], rules: [{ backendRefs: [to('web')] }] })
  const all = [last, plain, same, greedy, old]
  expect(new Set(servedOf(all))).toEqual(new Set(['1.example.org', '3.example.org', 'plain.example.org']))
  expect([old, greedy, same, last, plain].map((one) => refusalOf(one, all))).toEqual([
    null,
    'UnsupportedValue',
    null,
    'UnsupportedValue',
    null,
  ])
  expect(refusalOf(greedy, [greedy, same])).toBeNull()
})
