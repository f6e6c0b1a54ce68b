import { type RouteContent, type RouteContentInput, routeOf } from '@spout/connector'
import { whyUnusable } from '@spout/model/regex'
import { describe, expect, test } from 'vitest'
import { DIRECTIVES, HOSTILE } from '../../../../connector/src/testing/hostile-texts.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { HttpRouteFilter } from '../objects/http-route.ts'
import type { RouteObject } from '../objects/route.ts'
import {
  gatewayWith,
  grpcRouteWith,
  http,
  listener,
  routeWith,
  serviceOf,
  surroundingsOf,
  to,
} from '../testing/objects.ts'
import { type CompiledGateway, compileGateway } from './compile-gateway.ts'

const surroundings = surroundingsOf([serviceOf('web')])
const good = routeWith(
  { hostnames: ['good.example.org'], rules: [{ backendRefs: [to('web')] }] },
  { name: 'good', number: 3 },
)
const young = { name: 'hostile', number: 4, createdAt: '2026-02-01T00:00:00Z' }
const hostnames = ['a.example.org']
const backendRefs = [to('web')]
const ruled = (rule: object): RouteObject => routeWith({ hostnames, rules: [rule] }, young)
const matched = (match: object): RouteObject => ruled({ matches: [match], backendRefs })
const filtered = (filter: object): RouteObject => ruled({ filters: [filter as HttpRouteFilter], backendRefs })
const modified = (type: 'request' | 'response', modifier: object): RouteObject =>
  filtered({
    type: type === 'request' ? 'RequestHeaderModifier' : 'ResponseHeaderModifier',
    [`${type}HeaderModifier`]: modifier,
  })
const rpc = (match: object): RouteObject =>
  grpcRouteWith({ hostnames: ['g.example.org'], rules: [{ matches: [match], backendRefs }] }, young)

/** Every string of routes that users write. */
const PLACES: Readonly<Record<string, (text: string) => RouteObject>> = {
  'a host name': (text) => routeWith({ hostnames: [text], rules: [{ backendRefs }] }, young),
  'the name of a listener': (text) =>
    routeWith({ parentRefs: [{ name: 'web', sectionName: text }], rules: [{ backendRefs }] }, young),
  'the name of a Gateway': (text) => routeWith({ parentRefs: [{ name: text }], rules: [{ backendRefs }] }, young),
  'the name of a rule': (text) => ruled({ name: text, backendRefs }),
  'an exact path': (text) => matched({ path: { type: 'Exact', value: `/${text}` } }),
  'a prefix': (text) => matched({ path: { type: 'PathPrefix', value: `/${text}` } }),
  'an expression for paths': (text) => matched({ path: { type: 'RegularExpression', value: `/${text}` } }),
  'a method': (text) => matched({ method: text }),
  'the name of a header': (text) => matched({ headers: [{ name: text, value: 'x' }] }),
  'the value of a header': (text) => matched({ headers: [{ name: 'x', value: text }] }),
  'an expression for a header': (text) => matched({ headers: [{ type: 'RegularExpression', name: 'x', value: text }] }),
  'the name of a parameter': (text) => matched({ queryParams: [{ name: text, value: 'x' }] }),
  'the value of a parameter': (text) => matched({ queryParams: [{ name: 'x', value: text }] }),
  'the name of a Service': (text) => ruled({ backendRefs: [to(text)] }),
  'the namespace of a Service': (text) => ruled({ backendRefs: [to('web', { namespace: text })] }),
  'the kind of a backend': (text) => ruled({ backendRefs: [to('web', { kind: text, group: text })] }),
  'a time-out': (text) => ruled({ backendRefs, timeouts: { request: text } }),
  'the type of a filter': (text) => filtered({ type: text }),
  'the name of a header that is set': (text) => modified('request', { set: [{ name: text, value: 'x' }] }),
  'the value of a header that is set': (text) => modified('request', { set: [{ name: 'x', value: text }] }),
  'the value of a header that is added to answers': (text) =>
    modified('response', { add: [{ name: 'x', value: text }] }),
  'the name of a header that is removed': (text) => modified('response', { remove: [text] }),
  'the host of a redirect': (text) => filtered({ type: 'RequestRedirect', requestRedirect: { hostname: text } }),
  'the scheme of a redirect': (text) => filtered({ type: 'RequestRedirect', requestRedirect: { scheme: text } }),
  'the path of a redirect': (text) =>
    filtered({
      type: 'RequestRedirect',
      requestRedirect: { path: { type: 'ReplaceFullPath', replaceFullPath: `/${text}` } },
    }),
  'the host of a rewrite': (text) => filtered({ type: 'URLRewrite', urlRewrite: { hostname: text } }),
  'the path of a rewrite': (text) =>
    filtered({ type: 'URLRewrite', urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: `/${text}` } } }),
  'the Service of a mirror': (text) =>
    filtered({ type: 'RequestMirror', requestMirror: { backendRef: { name: text, port: 8080 } } }),
  'an origin': (text) => filtered({ type: 'CORS', cors: { allowOrigins: [text] } }),
  'a header of CORS': (text) =>
    filtered({ type: 'CORS', cors: { allowOrigins: ['*'], allowHeaders: [text], exposeHeaders: [text] } }),
  'a gRPC service': (text) => rpc({ method: { service: text } }),
  'a gRPC method': (text) => rpc({ method: { service: 'shop.Cart', method: text } }),
  'an expression for gRPC services': (text) => rpc({ method: { type: 'RegularExpression', service: text } }),
}

const routesOf = ({ wanted }: CompiledGateway) => wanted?.content.listeners[0]?.routes ?? []
const ofGood = (made: CompiledGateway) => routesOf(made).filter(({ name }) => name.startsWith(good.metadata.uid!))

/** Without the texts of expressions, which go nowhere: nodes get the tables of an automaton. */
const shown = (routes: readonly RouteContent[]): string =>
  JSON.stringify(routes, (_, value) => (value?.compare === 'regex' ? { ...value, values: [] } : value))

/** The good route is served as without the other one; nothing got through, and the control plane takes all of it. */
function expectHarmless(gateway: Gateway, ...hostile: readonly RouteObject[]): void {
  const made = compileGateway(gateway, [good, ...hostile], surroundings)
  expect(ofGood(made)).toEqual(ofGood(compileGateway(gatewayWith([http('web')]), [good], surroundings)))
  expect(ofGood(made)).toHaveLength(1)
  expect(shown(routesOf(made))).not.toMatch(DIRECTIVES)
  for (const route of routesOf(made)) {
    // As it is sent.
    expect(routeOf(JSON.parse(JSON.stringify(route)) as RouteContentInput, 'route')).toHaveProperty('value')
    for (const condition of route.conditions)
      if ('compare' in condition && condition.compare === 'regex')
        for (const expression of condition.values) expect(whyUnusable(expression, false)).toBeNull()
  }
}

describe('hostile text is refused or harmless, and nobody else changes', () => {
  test.each(Object.keys(PLACES))('in %s', (place) => {
    for (const text of HOSTILE) expectHarmless(gatewayWith([http('web')]), PLACES[place]!(text))
  })

  test('in listeners of the Gateway', () => {
    for (const text of HOSTILE)
      for (const more of [
        http(text, { port: 81 }),
        http('other', { hostname: text, port: 81 }),
        listener('other', text, 81),
        http('other', { protocol: 'HTTPS', port: 443, tls: { certificateRefs: [{ name: text }] } }),
        http('other', { port: 81, allowedRoutes: { kinds: [{ kind: text, group: text }] } }),
      ])
        expectHarmless(gatewayWith([http('web'), more]))
  })
})
