import type { RouteAction, RouteCondition } from '@spout/model'
import { byLength } from '@spout/testkit/long-tests'
import { matchRoutes } from '@spout/testkit/match-routes'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explainRequest } from './explain-request.ts'
import type { AskedRequest } from './request-conditions.ts'

const action: RouteAction = { type: 'respond', code: 200 }
const route = (conditions: readonly RouteCondition[], enabled = true) => ({
  enabled,
  conditions: [...conditions],
  action,
})
const request: AskedRequest = {
  method: 'GET',
  host: 'shop.example.com',
  path: '/cart',
  query: '',
  headers: [],
  source: null,
  client: null,
}

const names = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'))
const paths = fc.array(fc.constantFrom('/', 'a', '/b'), { maxLength: 4 }).map((parts) => `/${parts.join('')}`)
const texts = fc.constantFrom('a', 'b', 'ab', '')
const some = <T>(one: fc.Arbitrary<T>) => fc.uniqueArray(one, { minLength: 1, maxLength: 3 })
const not = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) })
const patterns = fc.constantFrom('a', '^a', 'b$', '^a.*b$', '[bc]', 'A')
const named = fc.oneof(
  fc.record({ compare: fc.constantFrom('exact', 'prefix', 'ends-with', 'contains'), values: some(texts) }),
  fc.record({ compare: fc.constant('regex'), values: some(patterns) }),
)

const condition = fc.oneof(
  fc.record({
    on: fc.constant('host'),
    compare: fc.constantFrom('exact', 'one-label', 'any-labels', 'prefix', 'ends-with', 'contains'),
    values: some(names),
    not,
  }),
  fc.record({ on: fc.constant('host'), compare: fc.constant('regex'), values: some(patterns), not }),
  fc.record({
    on: fc.constant('path'),
    compare: fc.constantFrom('exact', 'elements', 'prefix', 'ends-with', 'contains'),
    values: some(paths),
    not,
  }),
  fc.record({ on: fc.constant('path'), compare: fc.constant('regex'), values: some(patterns), not }),
  fc.record({ on: fc.constant('method'), values: some(fc.constantFrom('GET', 'POST')), not }),
  fc.record({ on: fc.constant('source'), values: some(fc.constantFrom('10.0.0.0/8', '10.1.0.0/16', 'fd00::/8')), not }),
  fc.record({ on: fc.constant('client-certificate'), values: some(fc.constantFrom('present', 'absent')), not }),
  fc
    .tuple(fc.constantFrom('header', 'cookie', 'query', 'client-name'), named, not)
    .map(([on, rest, inverted]) => ({ on, name: on === 'client-name' ? 'cn' : 'x', ...rest, not: inverted })),
) as fc.Arbitrary<RouteCondition>

const asked: fc.Arbitrary<AskedRequest> = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT'),
  host: fc.option(
    fc.tuple(names, fc.constantFrom('', ':80', '.', '.:8080')).map(([name, rest]) => `${name}${rest}`.toUpperCase()),
  ),
  path: fc.option(paths, { freq: 20 }),
  query: fc.constantFrom('', 'x', 'x=a', 'y=b&x=ab', 'x=a=b'),
  headers: fc.array(
    fc.oneof(
      fc.constantFrom('a', 'b', 'a, b', 'ab,a').map((line) => ['X', line] as const),
      fc.constantFrom('x=a', 'y=1; x=ab', 'x').map((line) => ['Cookie', line] as const),
    ),
    { maxLength: 2 },
  ),
  source: fc.constantFrom('10.1.2.3', '10.2.0.1', '192.0.2.1', 'fd00::1'),
  client: fc.option(fc.record({ CN: texts })),
})

describe('which route takes a request', () => {
  test('is that of the reference, and every other has its reason', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.array(condition, { maxLength: 3 }), fc.boolean()), { maxLength: 8 }),
        fc.array(asked, { minLength: 5, maxLength: 20 }),
        (drafts, requests) => {
          const routes = drafts.map(([conditions, enabled]) => route(conditions, enabled))
          for (const one of requests) {
            const { routes: decided, taken } = explainRequest({ routes }, one)
            const { method, client, source, ...rest } = one
            const plain = { ...rest, method: method ?? '', source: source ?? '', ...(client && { client }) }
            const takes = (conditions: readonly RouteCondition[]) => matchRoutes([{ conditions }], plain) === 0
            const enabled = routes.filter((each) => each.enabled)
            const at = matchRoutes(enabled, plain)
            expect(taken).toBe(at === null ? null : enabled[at])
            for (const { route: each, verdict } of decided) {
              const holds = each.enabled && takes(each.conditions)
              const is = !each.enabled ? 'disabled' : !holds ? 'differs' : each === taken ? 'takes' : 'later'
              expect(verdict.is, JSON.stringify([each.conditions, one])).toBe(is)
              if (verdict.is !== 'differs') continue
              expect(takes([verdict.condition])).toBe(false)
              expect(takes(each.conditions.slice(0, verdict.position))).toBe(true)
            }
          }
        },
      ),
      { numRuns: byLength(100, 1_000) },
    )
  })

  test('names the first condition that does not hold, and what the request has there', () => {
    const host: RouteCondition = { on: 'host', compare: 'exact', values: ['shop.example.com'], not: false }
    const header: RouteCondition = { on: 'header', name: 'x-beta', compare: 'exact', values: ['1'], not: false }
    const path: RouteCondition = { on: 'path', compare: 'elements', values: ['/admin'], not: false }
    const routes = [route([host, path]), route([host, header]), route([host], false), route([host]), route([])]
    const { routes: decided, taken } = explainRequest({ routes }, request)
    expect(decided.map(({ verdict }) => verdict)).toEqual([
      { is: 'differs', condition: path, position: 1, has: ['/cart'] },
      { is: 'differs', condition: header, position: 1, has: [] },
      { is: 'disabled' },
      { is: 'takes' },
      { is: 'later' },
    ])
    expect(taken).toBe(routes[3])
  })

  test('is none where no route takes it, and no network contains an unknown source', () => {
    const source: RouteCondition = { on: 'source', values: ['0.0.0.0/0'], not: false }
    const { routes: decided, taken } = explainRequest({ routes: [route([source])] }, request)
    expect(taken).toBeNull()
    expect(decided[0]?.verdict).toEqual({ is: 'differs', condition: source, position: 0, has: [] })
  })

  test('is found in time, whatever a regular expression of a tenant is made for', () => {
    const slow: RouteCondition = { on: 'path', compare: 'regex', values: ['^/(a+)+$'], not: false }
    const path = `/${'a'.repeat(5_000)}!`
    expect(explainRequest({ routes: [route([slow])] }, { ...request, path }).taken).toBeNull()
  })
})
