import { describe, test } from 'vitest'
import { HOSTILE } from '../../../../../connector/src/testing/hostile-texts.ts'
import type { HttpRouteFilter } from '../../objects/http-route.ts'
import type { RouteObject } from '../../objects/route.ts'
import { expectHarmless, young } from '../../testing/expect-harmless.ts'
import { gatewayWith, grpcRouteWith, http, routeWith, to } from '../../testing/objects.ts'

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
  'an expression for gRPC methods': (text) =>
    rpc({ method: { type: 'RegularExpression', service: 'shop.Cart', method: text } }),
  'the name of a gRPC header': (text) => rpc({ headers: [{ name: text, value: 'x' }] }),
  'the value of a gRPC header': (text) => rpc({ headers: [{ name: 'x', value: text }] }),
  'an expression for a gRPC header': (text) =>
    rpc({ headers: [{ type: 'RegularExpression', name: 'x', value: text }] }),
  'a host name of a GRPCRoute': (text) => grpcRouteWith({ hostnames: [text], rules: [{ backendRefs }] }, young),
  'an expression for a parameter': (text) =>
    matched({ queryParams: [{ type: 'RegularExpression', name: 'x', value: text }] }),
  'the value of a header that is added': (text) => modified('request', { add: [{ name: 'x', value: text }] }),
  'the name of a header that is added to answers': (text) =>
    modified('response', { add: [{ name: text, value: 'x' }] }),
  'the name of a header that is set by a backend': (text) =>
    ruled({ backendRefs: [filteredBackend({ set: [{ name: text, value: 'x' }] })] }),
  'the value of a header that is set by a backend': (text) =>
    ruled({ backendRefs: [filteredBackend({ set: [{ name: 'x', value: text }] })] }),
  'the prefix of a redirect': (text) =>
    prefixed('RequestRedirect', { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: `/${text}` } }),
  'the prefix of a rewrite': (text) =>
    prefixed('URLRewrite', { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: `/${text}` } }),
  'the type of a rewrite': (text) => filtered({ type: 'URLRewrite', urlRewrite: { path: { type: text } } }),
  'the namespace of a mirror': (text) =>
    filtered({ type: 'RequestMirror', requestMirror: { backendRef: { name: 'web', namespace: text, port: 8080 } } }),
  'an extension': (text) => filtered({ type: 'ExtensionRef', extensionRef: { group: text, kind: text, name: text } }),
  'a method of CORS': (text) => filtered({ type: 'CORS', cors: { allowOrigins: ['*'], allowMethods: [text] } }),
  'the pause between tries': (text) => ruled({ backendRefs, retry: { attempts: 2, backoff: text } }),
  'a time-out of backends': (text) => ruled({ backendRefs, timeouts: { backendRequest: text } }),
  'the kind of a parent': (text) =>
    routeWith({ parentRefs: [{ name: 'web', kind: text, group: text }], rules: [{ backendRefs }] }, young),
  'the namespace of a parent': (text) =>
    routeWith({ parentRefs: [{ name: 'web', namespace: text }], rules: [{ backendRefs }] }, young),
  'a name for DNS': (text) => annotated({ 'external-dns.alpha.kubernetes.io/hostname': text }),
  'the time to live of a name': (text) => annotated({ 'external-dns.alpha.kubernetes.io/ttl': text }),
}

const filteredBackend = (requestHeaderModifier: object) =>
  to('web', { filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier }] })
const prefixed = (type: 'RequestRedirect' | 'URLRewrite', value: object): RouteObject =>
  ruled({
    matches: [{ path: { type: 'PathPrefix', value: '/x' } }],
    filters: [{ type, [type === 'URLRewrite' ? 'urlRewrite' : 'requestRedirect']: value } as HttpRouteFilter],
    ...(type === 'URLRewrite' && { backendRefs }),
  })
const annotated = (annotations: Readonly<Record<string, string>>): RouteObject => {
  const made = ruled({ backendRefs })
  return { ...made, metadata: { ...made.metadata, annotations } }
}

describe('hostile text is refused or harmless, and nobody else changes', () => {
  test.each(Object.keys(PLACES))('in %s', (place) => {
    for (const text of HOSTILE) expectHarmless(gatewayWith([http('web')]), PLACES[place]!(text))
  })
})
