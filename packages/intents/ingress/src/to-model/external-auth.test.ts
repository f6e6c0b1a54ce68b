import type { Ingress } from '@spout/kube'
import { describe, expect, test } from 'vitest'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { answer, compiled, problemsOf, routeOfRequest, routesOf } from '../testing/compiled.ts'
import { ingress, rule } from '../testing/objects.ts'

type Annotations = Readonly<Record<string, string>>

const given = (age: number, rules: readonly string[], annotations: Annotations = {}): Ingress => {
  const prefixed = Object.entries(annotations).map(([name, value]) => [`${NGINX_PREFIX}${name}`, value])
  return ingress(`i${age}`, age, { rules: rules.map(rule) }, Object.fromEntries(prefixed))
}

const ROOT = ['a.example / Prefix web']
const SERVICE = { 'auth-url': 'http://next.shop.svc.cluster.local/check?a=b' }
const URL_FIELD = `metadata.annotations[${NGINX_PREFIX}auth-url]`

/** What the first route with an authorizer says of it. */
const authorizerOf = (...all: readonly Ingress[]) => {
  const actions = routesOf(compiled(...all)).map(({ action }) => action)
  return actions.map((action) => (action.type === 'forward' ? action.authorizer : undefined)).find(Boolean)
}

describe('auth-url', () => {
  test('names a Service of the namespace, which is asked about each request', () => {
    const one = given(1, ROOT, SERVICE)
    expect(authorizerOf(one)).toEqual({
      ...{ pool: 'shop/next:80', method: 'GET', host: 'next.shop.svc.cluster.local', path: '/check?a=b' },
      ...{ pathPrefix: null, sendHeaders: ['*'], setHeaders: [], takeHeaders: [], cookies: 'successes', signIn: null },
    })
    const { content, problems } = compiled(one)
    expect(content.pools.map(({ name }) => name)).toEqual(['shop/next:80', 'shop/web:80'])
    expect(problems.size).toBe(0)
  })

  test.each([
    ['http://next.shop.svc', '/', 'next.shop.svc'],
    ['http://next.shop:80/a/', '/a/', 'next.shop'],
    ['https://$host/oauth2/auth', '/oauth2/auth', null],
    ['http://$http_host/oauth2/auth?x', '/oauth2/auth?x', null],
    ['https://a.example/oauth2/auth', '/oauth2/auth', 'a.example'],
    ['https://auth.example/verify', '/verify', 'auth.example'],
  ])('%s asks the Service behind it', (url, path, host) => {
    const auth = given(2, ['a.example /oauth2 Prefix next', 'auth.example / Prefix next'])
    expect(authorizerOf(given(1, ROOT, { 'auth-url': url }), auth)).toMatchObject({ pool: 'shop/next:80', path, host })
  })

  test.each([
    ['http://auth.other.svc/check', 'it is a Service of another namespace, which did not agree to it'],
    ['https://next.shop.svc/check', 'Services are asked over http'],
    ['https://auth.example/check', 'no Ingress of this namespace has a rule for auth.example/check'],
    ['https://169.254.169.254/latest', 'no Ingress of this namespace has a rule for 169.254.169.254/latest'],
    ['https://a.example/check', 'no Ingress of this namespace has a rule for a.example/check'],
    ['https://$host/check', 'no Ingress of this namespace has a rule for a.example/check'],
    ['https://c.example/locked', 'its path is protected itself'],
    ['https://c.example/listed', 'its path is protected itself'],
    ['https://d.example/moved', 'requests for its path are redirected or rewritten'],
    ['https://e.example/x1', 'an expression, /x[0-9]+, takes its path'],
    ['https://auth.example:8443/check', 'an Ingress has the ports 80 and 443'],
    ['https://$host$request_uri', 'it is no URL'],
    ['https://auth.$host/', 'it is no URL'],
    ['ftp://next.shop.svc', 'it is no URL'],
    ['/check', 'it is no URL'],
    ['off', 'it is no URL'],
  ])('%s closes the paths, and says why', (url, why) => {
    const others = [
      given(2, ['a.example /open Prefix next']),
      given(3, ['c.example /locked Prefix next'], SERVICE),
      given(4, ['c.example /listed Prefix next'], { 'allowlist-source-range': '10.0.0.0/8' }),
      given(5, ['d.example /moved Prefix next'], { 'temporal-redirect': 'https://b.example' }),
      given(6, ['e.example /x[0-9]+ Prefix next'], { 'use-regex': 'true' }),
      given(7, ['- / Prefix next']),
    ]
    const one = given(1, ROOT, { 'auth-url': url })
    const made = compiled(one, ...others)
    expect(answer(made, { path: '/x' })).toBe('503')
    expect(answer(made, { path: '/open' })).toBe('next')
    expect(problemsOf(made, one)).toContain(`AnnotationRefused ${URL_FIELD}`)
    const said = made.problems.get(one.metadata.uid ?? '') ?? []
    expect(said.find(({ field }) => field === URL_FIELD)?.message).toContain(`not taken: ${why}`)
  })

  test('of a Service that is not there closes the paths until it is; one without endpoints is asked in vain', () => {
    const missing = given(1, ROOT, { 'auth-url': 'http://gone.shop.svc' })
    expect(answer(compiled(missing), {})).toBe('503')
    expect(problemsOf(compiled(missing), missing)).toEqual([`BackendNotFound ${URL_FIELD}`])
    expect(compiled(missing).services).toContain('shop/gone')
    expect(authorizerOf(given(1, ROOT, { 'auth-url': 'http://idle.shop.svc' }))).toMatchObject({ pool: 'shop/idle:80' })
  })

  test('holds for canaries and clients without limits, too; redirects go first, as with ingress-nginx', () => {
    const limits = { 'limit-rps': '5', 'limit-whitelist': '10.0.0.0/8', 'app-root': '/shop' }
    const canary = given(2, ['a.example / Prefix sorry'], { canary: 'true', 'canary-by-header': 'x' })
    const actions = routesOf(compiled(given(1, ROOT, { ...SERVICE, ...limits }), canary)).map(({ action }) => action)
    const forwards = actions.filter((action) => action.type === 'forward')
    expect(forwards.length).toBeGreaterThan(3)
    expect(forwards.every(({ authorizer }) => authorizer?.pool === 'shop/next:80')).toBe(true)
    expect(actions.filter(({ type }) => type === 'redirect')).toHaveLength(1)
  })
})

test('satisfy: an allowed address is enough with any, and not without', () => {
  const lists = { 'allowlist-source-range': '10.0.1.0/24', 'denylist-source-range': '10.0.2.0/24' }
  const limits = { 'limit-rps': '5', 'limit-whitelist': '10.0.1.0/24' }
  const made = (satisfy: string) => compiled(given(1, ROOT, { ...SERVICE, ...lists, ...limits, satisfy }))
  const routeFrom = (of: ReturnType<typeof made>, source: string) =>
    [answer(of, { source }), routeOfRequest(of, { source })?.action] as const
  const any = made('any')
  expect(routeFrom(any, '10.0.1.7')).toMatchObject(['web', { type: 'forward' }])
  expect(routeFrom(any, '10.0.1.7')[1]).not.toHaveProperty('authorizer')
  expect(routeFrom(any, '10.0.1.7')[1]).not.toHaveProperty('clientRate')
  expect(routeFrom(any, '192.0.2.1')).toMatchObject(['web', { authorizer: { pool: 'shop/next:80' } }])
  expect(routeFrom(any, '10.0.2.1')[0]).toBe('403')
  for (const both of [made('all'), made('many')]) {
    expect(routeFrom(both, '10.0.1.7')).toMatchObject(['web', { authorizer: { pool: 'shop/next:80' } }])
    expect(routeFrom(both, '192.0.2.1')[0]).toBe('403')
  }
})

describe('beside auth-url', () => {
  const beside = (annotations: Annotations) => authorizerOf(given(1, ROOT, { ...SERVICE, ...annotations }))

  test('method, headers, cookies and where the client comes from', () => {
    expect(beside({ 'auth-method': 'POST' })).toMatchObject({ method: 'POST' })
    expect(beside({ 'auth-response-headers': 'X-User, Authorization' })).toMatchObject({
      takeHeaders: ['x-user', 'authorization'],
    })
    expect(beside({ 'auth-always-set-cookie': 'true' })).toMatchObject({ cookies: 'always' })
    expect(beside({ 'auth-request-redirect': 'https://b.example/' })).toMatchObject({
      setHeaders: [{ name: 'x-auth-request-redirect', value: 'https://b.example/' }],
    })
    expect(beside({ 'auth-request-redirect': '$request_uri' })).toMatchObject({ setHeaders: [] })
  })

  test.each([
    ['auth-method', 'get; deny all'],
    ['auth-response-headers', 'X-User,Host'],
    ['auth-response-headers', 'X User'],
    ['auth-proxy-set-headers', 'shop/headers'],
    ['auth-snippet', 'deny all;'],
  ])('%s: %s closes the paths', (name, value) => {
    const one = given(1, ROOT, { ...SERVICE, [name]: value })
    expect(answer(compiled(one), {})).toBe('503')
    expect(problemsOf(compiled(one), one)).toEqual([`AnnotationRefused metadata.annotations[${NGINX_PREFIX}${name}]`])
  })

  const asPath = { parameter: 'rd', as: 'path' }
  const asUrl = { parameter: 'rd', as: 'url' }
  test.each([
    ['https://$host/oauth2/start?rd=$escaped_request_uri', {}, ['https', null, '/oauth2/start', asPath]],
    ['https://auth.example/', {}, ['https', 'auth.example', '/', asUrl]],
    [
      'https://auth.example',
      { 'auth-signin-redirect-param': 'to' },
      ['https', 'auth.example', '/', { ...asUrl, parameter: 'to' }],
    ],
    ['$scheme://$http_host/in?a=b&rd=$scheme://$http_host$request_uri', {}, [null, null, '/in?a=b', asUrl]],
    [
      'https://auth.example/in?to=$request_uri&a=b',
      {},
      ['https', 'auth.example', '/in?a=b', { parameter: 'to', as: 'path' }],
    ],
    ['https://auth.example/in?rd=https://a.example/', {}, ['https', 'auth.example', '/in?rd=https://a.example/', null]],
  ])('auth-signin: %s %j', (url, more, [scheme, host, path, returnTo]) => {
    expect(beside({ 'auth-signin': url, ...(more as Annotations) })?.signIn).toEqual({
      ...{ scheme, host, port: null, path, returnTo },
    })
  })

  test.each([
    'javascript:alert(1)',
    'https://auth.example/$uri',
    'https://$host/?a=$b&rd=$request_uri',
    'https://x/ {}',
    '/in',
  ])('auth-signin: %s is not taken; clients get 401', (url) => {
    const one = given(1, ROOT, { ...SERVICE, 'auth-signin': url })
    expect(authorizerOf(one)).toMatchObject({ signIn: null })
    const field = `metadata.annotations[${NGINX_PREFIX}auth-signin]`
    expect(problemsOf(compiled(one), one)).toEqual([`InvalidAnnotation ${field}`])
  })
})
