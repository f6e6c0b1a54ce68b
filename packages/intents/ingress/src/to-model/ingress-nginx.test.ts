import type { Ingress } from '@spout/kube'
import { describe, expect, test } from 'vitest'
import { NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { answer, compiled, problemsOf, routesOf } from '../testing/compiled.ts'
import { ingress, rule } from '../testing/objects.ts'

type Annotations = Readonly<Record<string, string>>

const prefixed = (annotations: Annotations): Annotations =>
  Object.fromEntries(Object.entries(annotations).map(([name, value]) => [`${NGINX_PREFIX}${name}`, value]))

/** The `age`-th Ingress, with annotations of ingress-nginx. Rules are as `rule` reads them. */
const given = (age: number, rules: readonly string[], annotations: Annotations, more: Ingress['spec'] = {}): Ingress =>
  ingress(`i${age}`, age, { rules: rules.map(rule), ...more }, prefixed(annotations))

const ROOT = ['a.example / Prefix web']
const annotation = (name: string): string => `metadata.annotations[${NGINX_PREFIX}${name}]`

describe('redirects', () => {
  const tls = { tls: [{ secretName: 's', hosts: ['a.example'] }] }
  const hosts = [...ROOT, 'c.example / Prefix web']

  test('to HTTPS are for hosts with TLS, or for all', () => {
    const some = compiled(given(1, hosts, { 'ssl-redirect': 'true' }, tls))
    expect(answer(some, { path: '/x' })).toBe('308 https:///x')
    expect(answer(some, { path: '/x' }, 'https')).toBe('web')
    expect(answer(some, { host: 'c.example' })).toBe('web')
    const all = compiled(given(1, hosts, { 'force-ssl-redirect': 'true' }, tls))
    expect(answer(all, { host: 'c.example' })).toBe('308 https:///')
    expect(answer(compiled(given(1, hosts, { 'force-ssl-redirect': 'true' })), { host: 'c.example' })).toBe('web')
  })

  test.each([
    [{ 'permanent-redirect': 'https://b.example/new?a=b' }, '301 https://b.example/new?a=b'],
    [{ 'permanent-redirect': 'https://b.example', 'permanent-redirect-code': '308' }, '308 https://b.example/'],
    [{ 'permanent-redirect': 'https://b.example:8443$request_uri' }, '301 https://b.example:8443/x'],
    [{ 'permanent-redirect': 'https://$host/new$request_uri' }, '301 https:///new/x'],
    [{ 'temporal-redirect': '/there' }, '302 /there'],
    [{ 'temporal-redirect': '/there', 'temporal-redirect-code': '307', 'permanent-redirect': '/no' }, '307 /there'],
    [{ 'permanent-redirect': 'https://b.example/$uri' }, 'web'],
    [{ 'permanent-redirect': 'javascript:alert(1)' }, 'web'],
  ])('%j', (annotations, expected) => {
    expect(answer(compiled(given(1, ROOT, annotations)), { path: '/x' })).toBe(expected)
  })

  test('of the application root are for / alone', () => {
    const made = compiled(given(1, [...ROOT, 'a.example /api Prefix next'], { 'app-root': '/shop' }))
    expect(answer(made, { path: '/' })).toBe('302 /shop')
    expect(answer(made, { path: '/shop' })).toBe('web')
    expect(answer(made, { path: '/api' })).toBe('next')
  })

  test('from and to www. are for names without rules', () => {
    const www = compiled(given(1, ['www.a.example / Prefix web'], { 'from-to-www-redirect': 'true' }))
    expect(answer(www, { path: '/x' })).toBe('308 ://www.a.example/x')
    expect(answer(www, { host: 'www.a.example' })).toBe('web')
    const both = [...ROOT, 'www.a.example / Prefix next']
    expect(answer(compiled(given(1, both, { 'from-to-www-redirect': 'true' })), {})).toBe('web')
  })
})

describe('expressions', () => {
  test('one path makes all of its host so: without regard to case, from the begin on, the longest first', () => {
    const first = given(1, ['a.example /api/v[0-9]+ ImplementationSpecific next', 'c.example /x Exact next'], {
      'use-regex': 'true',
    })
    const second = given(2, ['a.example /shop Exact web', 'a.example / Prefix sorry', 'd.example /shop Exact web'], {})
    const made = compiled(first, second)
    for (const path of ['/api/v1', '/API/v22/x']) expect(answer(made, { path })).toBe('next')
    for (const path of ['/shop', '/SHOP', '/shopping']) expect(answer(made, { path })).toBe('web')
    for (const path of ['/', '/api/vx']) expect(answer(made, { path })).toBe('sorry')
    expect(answer(made, { host: 'd.example', path: '/shop' })).toBe('web')
    expect(answer(made, { host: 'd.example', path: '/shopping' })).toBe('404')
  })

  test('are tried by their length', () => {
    const made = compiled(
      given(1, ['a.example /foo/b.* ImplementationSpecific web', 'a.example /foo/bar/[a-z]+ Prefix next'], {
        'use-regex': 'true',
      }),
    )
    expect(answer(made, { path: '/foo/bar/x' })).toBe('next')
    expect(answer(made, { path: '/foo/b' })).toBe('web')
  })

  test.each([
    ['/admin(?!x)', '/adm', '/admin/y'],
    ['/admin(a**)', '/adm', '/admin/y'],
    ['/a(?=b)|/c', null, '/zzz'],
    [`/admin/${'(a{1,999}){1,999}'}`, '/adm', '/admin/a'],
  ])('%s cannot be used: what begins as it does gets 503, and no other rule', (path, open, closed) => {
    const broken = given(1, [`a.example ${path} ImplementationSpecific next`], { 'use-regex': 'true' })
    const made = compiled(broken, given(2, ROOT, {}))
    expect(answer(made, { path: closed })).toBe('503')
    if (open !== null) expect(answer(made, { path: open })).toBe('web')
    expect(problemsOf(made, broken)).toEqual(['InvalidRoute spec.rules[0].http.paths[0]'])
  })

  test('more than 50 at an address get 503', () => {
    const paths = Array.from({ length: 51 }, (_, at) => `a.example /p${at}/[a-z]+ ImplementationSpecific web`)
    const many = given(1, paths, { 'use-regex': 'true' })
    const made = compiled(many)
    expect(problemsOf(made, many)).toHaveLength(1)
    const answers = paths.map((_, at) => answer(made, { path: `/p${at}/x` }))
    expect(answers.filter((one) => one === '503')).toHaveLength(1)
    const patterns = routesOf(made).flatMap(({ conditions }) =>
      conditions.filter((one) => 'compare' in one && one.compare === 'regex'),
    )
    expect(new Set(patterns.flatMap(({ values }) => values)).size).toBe(50)
  })
})

describe('rewrite-target', () => {
  test.each([
    // path, target, request, what it gets
    ['/foo(/|$)(.*)', '/$2', '/foo', 'web /'],
    ['/foo(/|$)(.*)', '/$2', '/foo/bar', 'web /bar'],
    ['/foo(/|$)(.*)', '/$2', '/foobar', '404'],
    ['/foo(/|$)(.*)', '/$2', '/FOO/bar', '503'],
    ['/foo(/|$)(.*)', '/api/$2', '/foo/bar', 'web /api/bar'],
    ['/a/b(/|$)(.*)', '/c/$2', '/a/b/d', 'web /c/d'],
    ['/foo/(.*)', '/$1', '/foo/bar', 'web /bar'],
    ['/foo/(.*)', '/$1', '/foo', '404'],
    ['/foo/?(.*)', '/$1', '/foo/bar', 'web /bar'],
    ['/foo/?(.*)', '/$1', '/foobar', '503'],
    ['/foo(/.*)?', '$1', '/foo/bar', 'web /bar'],
    ['/foo(.*)', '/bar$1', '/foo/x', 'web /bar/x'],
    ['/(.*)', '/$1', '/x', 'web'],
    ['/(.*)', '/app/$1', '/x', 'web /app/x'],
    ['/v1.0(/|$)(.*)', '/$2', '/v1.0/x', 'web /x'],
    ['/foo', '/', '/foo/bar', 'web /'],
    ['/foo', '/', '/FOObar', 'web /'],
    ['/foo', '/foo', '/foo/bar', 'web'],
    ['/(a|b)/(.*)', '/$2/$1', '/a/x', '503'],
    ['/foo/(.*)', '/$2', '/foo/x', '503'],
    ['/foo(/|$)(.*)', '/?p=$2', '/foo/x', '503'],
    ['/foo(/|$)(.*)', 'https://b.example/$2', '/foo/x', '503'],
  ])('%s to %s: %s gets %s', (path, target, asked, expected) => {
    const one = given(1, [`a.example ${path} ImplementationSpecific web`], { 'rewrite-target': target })
    expect(answer(compiled(one), { path: asked })).toBe(expected)
  })
})

describe('access', () => {
  test('outside an allow list is 403, before everything else', () => {
    const annotations = { 'whitelist-source-range': '10.0.0.0/24, 198.51.100.7', 'app-root': '/shop' }
    const made = compiled(given(1, ROOT, annotations))
    for (const path of ['/', '/shop']) {
      expect(answer(made, { path, source: '192.0.2.1' })).toBe('403')
      expect(answer(made, { path, source: '10.0.0.9' })).not.toBe('403')
    }
    expect(answer(made, { path: '/x', source: '198.51.100.7' })).toBe('web')
  })

  test('a deny list is 403; lists of more networks than a condition has are whole', () => {
    const networks = Array.from({ length: 150 }, (_, at) => `10.0.${at}.0/24`).join(',')
    const denied = compiled(given(1, ROOT, { 'denylist-source-range': networks }))
    const allowed = compiled(given(1, ROOT, { 'allowlist-source-range': networks }))
    for (const at of [0, 63, 64, 149]) {
      expect(answer(denied, { source: `10.0.${at}.1` })).toBe('403')
      expect(answer(allowed, { source: `10.0.${at}.1` })).toBe('web')
    }
    expect(answer(denied, { source: '10.0.150.1' })).toBe('web')
    expect(answer(allowed, { source: '10.0.150.1' })).toBe('403')
  })

  test.each<Annotations>([
    { 'whitelist-source-range': '10.0.0.0/33' },
    { 'whitelist-source-range': ',' },
    { 'allowlist-source-range': '10.0.0.0/8;deny all' },
    { 'denylist-source-range': 'nobody' },
    { 'auth-type': 'basic' },
    { 'auth-type': 'digest', 'auth-secret': 'users' },
    { 'auth-type': 'digest', 'auth-secret': 'users', 'auth-url': 'http://next.shop.svc' },
    { 'auth-url': 'http://auth.other.svc' },
    { 'auth-tls-secret': 'shop/ca' },
    { 'auth-of-a-later-version': 'x' },
    { 'configuration-snippet': 'deny all;' },
    { 'server-snippet': '}' },
    { 'enable-modsecurity': 'true' },
    { 'proxy-ssl-verify': 'on' },
    { 'ssl-passthrough': 'true' },
    { 'backend-protocol': 'FCGI' },
    { 'backend-protocol': 'constructor' },
  ])('%j: all paths get 503, and other Ingresses are served', (annotations) => {
    const refused = given(1, ['a.example /x Prefix web', 'c.example / Prefix web'], annotations)
    const made = compiled(refused, given(2, ROOT, {}))
    expect(answer(made, { path: '/x/y' })).toBe('503')
    expect(answer(made, { host: 'c.example' })).toBe('503')
    expect(answer(made, { path: '/' })).toBe('web')
    const [name = ''] = Object.keys(annotations)
    expect(problemsOf(made, refused)).toContain(`AnnotationRefused ${annotation(name)}`)
  })

  test('what is switched off refuses nothing', () => {
    const off = { 'ssl-passthrough': 'false', 'enable-modsecurity': 'false', 'proxy-ssl-verify': 'off', 'auth-url': '' }
    const one = given(1, ROOT, off)
    expect(answer(compiled(one), {})).toBe('web')
    expect(problemsOf(compiled(one), one)).toEqual([])
  })
})

describe('canaries', () => {
  const main = given(1, ROOT, {})
  const canary = (annotations: Annotations) =>
    compiled(main, given(2, ['a.example / Prefix next'], { canary: 'true', ...annotations }))

  test('by weight', () => {
    expect(answer(canary({ 'canary-weight': '20' }), {})).toBe('web*80+next*20')
    expect(answer(canary({ 'canary-weight': '1', 'canary-weight-total': '1000' }), {})).toBe('web*999+next')
    expect(answer(canary({ 'canary-weight': '100' }), {})).toBe('next*100')
    expect(answer(canary({}), {})).toBe('web')
  })

  test('by header, then cookie, then weight', () => {
    const made = canary({ 'canary-by-header': 'X-Canary', 'canary-by-cookie': 'c', 'canary-weight': '50' })
    const asked = (header: string, cookie: string) =>
      answer(made, { headers: { 'x-canary': header }, cookies: { c: cookie } })
    expect(asked('always', 'never')).toBe('next')
    expect(asked('never', 'always')).toBe('web')
    expect(asked('x', 'always')).toBe('next')
    expect(asked('x', 'never')).toBe('web')
    expect(asked('x', 'x')).toBe('web*50+next*50')
  })

  test('by a value of the header, or a pattern', () => {
    const exact = canary({ 'canary-by-header': 'x', 'canary-by-header-value': 'eu' })
    expect(answer(exact, { headers: { x: 'eu' } })).toBe('next')
    for (const x of ['always', 'eur']) expect(answer(exact, { headers: { x } })).toBe('web')
    const pattern = canary({ 'canary-by-header': 'x', 'canary-by-header-pattern': '^eu-[0-9]$' })
    expect(answer(pattern, { headers: { x: 'eu-1' } })).toBe('next')
    expect(answer(pattern, { headers: { x: 'us-1' } })).toBe('web')
    expect(answer(canary({ 'canary-by-header': 'x', 'canary-by-header-pattern': '(?=a)' }), {})).toBe('web')
  })

  test('have the annotations of the other Ingress, and say so of their own', () => {
    const annotations = { canary: 'true', 'canary-weight': '50', 'auth-url': 'x', 'denylist-source-range': '0.0.0.0/0' }
    const one = given(2, ['a.example / Prefix next'], annotations)
    const made = compiled(main, one)
    expect(answer(made, {})).toBe('web*50+next*50')
    const names = ['auth-url', 'denylist-source-range']
    expect(problemsOf(made, one)).toEqual(names.map((name) => `AnnotationNotTaken ${annotation(name)}`))
  })

  test('without an Ingress of its host and path are said, and serve nothing', () => {
    const alone = given(2, ['a.example /y Prefix next'], { canary: 'true', 'canary-weight': '50' })
    const second = given(3, ['a.example / Prefix sorry'], { canary: 'true', 'canary-weight': '50' })
    const made = compiled(main, alone, given(4, ROOT, { canary: 'true', 'canary-weight': '50' }), second)
    expect(answer(made, { path: '/y' })).toBe('web*50+sorry*50')
    expect(problemsOf(made, alone)).toEqual(['CanaryNotTaken spec.rules[0].http.paths[0]'])
  })
})

describe('forwarding', () => {
  const actionOf = (annotations: Annotations, service = 'web') => {
    const one = given(1, [`a.example / Prefix ${service}`], annotations)
    const made = compiled(one)
    const action = routesOf(made).find(({ name }) => !name.includes('#'))?.action
    const [pool] = made.content.pools
    return { action, pool, problems: problemsOf(made, one), pools: made.content.pools }
  }
  const filter = (annotations: Annotations) => {
    const { action } = actionOf(annotations)
    return action?.type === 'forward' ? action.filters?.[0] : undefined
  }

  test('CORS as ingress-nginx has it; any origin gets no credentials', () => {
    expect(filter({ 'enable-cors': 'true' })).toMatchObject({
      type: 'cors',
      origins: ['*'],
      credentials: false,
      maxAgeSeconds: 86_400,
      methods: ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS'],
    })
    expect(
      filter({
        'enable-cors': 'true',
        'cors-allow-origin': 'https://*.a.example, https://b.example:8443',
        'cors-allow-methods': 'GET, PUT',
        'cors-allow-headers': 'X-One,X-Two',
        'cors-expose-headers': 'X-Three',
        'cors-max-age': '60',
      }),
    ).toEqual({
      type: 'cors',
      origins: ['https://*.a.example', 'https://b.example:8443'],
      methods: ['GET', 'PUT'],
      headers: ['x-one', 'x-two'],
      exposeHeaders: ['x-three'],
      credentials: true,
      maxAgeSeconds: 60,
    })
    expect(
      filter({ 'enable-cors': 'true', 'cors-allow-origin': 'https://a.example', 'cors-allow-credentials': 'false' }),
    ).toMatchObject({ credentials: false })
    expect(filter({ 'enable-cors': 'true', 'cors-allow-origin': 'a.example"; deny all;' })).toBeUndefined()
    expect(filter({ 'cors-allow-origin': 'https://a.example' })).toBeUndefined()
  })

  test('headers and the host', () => {
    expect(filter({ 'x-forwarded-prefix': '/shop' })).toMatchObject({
      type: 'request-headers',
      set: [{ name: 'x-forwarded-prefix', value: '/shop' }],
    })
    expect(filter({ 'upstream-vhost': 'in.example' })).toMatchObject({ type: 'rewrite', host: 'in.example' })
  })

  test('time-outs and retries', () => {
    expect(actionOf({ 'proxy-read-timeout': '120' }).action).toMatchObject({
      timeouts: { requestMs: null, backendRequestMs: 120_000 },
    })
    expect(
      actionOf({ 'proxy-next-upstream': 'error timeout http_502 http_503', 'proxy-next-upstream-tries': '2' }).action,
    ).toMatchObject({ retry: { attempts: 1, codes: [502, 503], backoffMs: 0 } })
    expect(actionOf({ 'proxy-next-upstream-tries': '0' }).action).toMatchObject({ retry: { attempts: 5 } })
    expect(actionOf({ 'proxy-next-upstream': 'off' }).action).not.toHaveProperty('retry')
  })

  test('rates of clients, with the usual burst', () => {
    expect(actionOf({ 'limit-rps': '10' }).action).toMatchObject({
      clientRate: { requests: 10, perSeconds: 1, burst: 50 },
    })
    expect(actionOf({ 'limit-rpm': '30', 'limit-burst-multiplier': '2' }).action).toMatchObject({
      clientRate: { requests: 30, perSeconds: 60, burst: 60 },
    })
    for (const none of ['0', 'many']) expect(actionOf({ 'limit-rps': none }).action).not.toHaveProperty('clientRate')
  })

  test('requests at once, and clients that have no limit', () => {
    expect(actionOf({ 'limit-connections': '10' }).action).toMatchObject({ clientConcurrency: 10 })
    for (const none of ['0', 'many'])
      expect(actionOf({ 'limit-connections': none }).action).not.toHaveProperty('clientConcurrency')
    const limits = { 'limit-connections': '10', 'limit-rps': '5' }
    const one = given(1, ROOT, { ...limits, 'limit-whitelist': '10.0.0.0/8, 192.0.2.1' })
    const [free, limited] = routesOf(compiled(one))
    expect(free?.conditions).toContainEqual({
      ...{ on: 'source', not: false },
      values: ['10.0.0.0/8', '192.0.2.1/32'],
    })
    expect(free?.action).not.toHaveProperty('clientConcurrency')
    expect(free?.action).not.toHaveProperty('clientRate')
    expect(limited?.action).toMatchObject({ clientConcurrency: 10, clientRate: { requests: 5 } })
    // A list alone limits nothing; one that is not understood frees nobody.
    const named = (annotations: Annotations) => routesOf(compiled(given(1, ROOT, annotations))).map(({ name }) => name)
    expect(named({ 'limit-whitelist': '10.0.0.0/8' })).toEqual(named({}))
    expect(named({ ...limits, 'limit-whitelist': '10.0.0.0/8, all' })).toEqual(named(limits))
    expect(actionOf({ ...limits, 'limit-whitelist': 'all' }).problems).toHaveLength(1)
  })

  test('limits of bodies, in the units of nginx', () => {
    for (const [size, maxBodyBytes] of [
      ['8m', 8_388_608],
      ['1K', 1024],
      ['100', 100],
      ['2g', 2_147_483_648],
    ] as const)
      expect(actionOf({ 'proxy-body-size': size }).action).toMatchObject({ maxBodyBytes })
    for (const none of ['0', 'much', '9999g']) {
      const { action, problems } = actionOf({ 'proxy-body-size': none })
      expect(action).not.toHaveProperty('maxBodyBytes')
      expect(problems).toHaveLength(none === '0' ? 0 : 1)
    }
  })

  test('protocols and affinity are of the pool', () => {
    expect(actionOf({}).pool).toMatchObject({ name: 'shop/web:80', persistence: null })
    expect(actionOf({ 'backend-protocol': 'HTTPS' }).pool?.tls).toMatchObject({ alpn: ['http/1.1'], minVersion: '1.2' })
    expect(
      actionOf({ 'backend-protocol': 'GRPCS', 'proxy-ssl-name': 'in.example', 'proxy-ssl-protocols': 'TLSv1.3' }).pool
        ?.tls,
    ).toMatchObject({ alpn: ['h2'], serverName: 'in.example', minVersion: '1.3' })
    expect(actionOf({ affinity: 'cookie' }).pool?.persistence).toEqual({ type: 'cookie' })
    const named = { affinity: 'cookie', 'session-cookie-name': 'route', 'session-cookie-samesite': 'None' }
    expect(
      actionOf({
        ...named,
        'session-cookie-path': '/x',
        'session-cookie-secure': 'true',
        'session-cookie-expires': '60',
      }).pool?.persistence,
    ).toEqual({
      type: 'cookie',
      cookie: { name: 'route', path: '/x', sameSite: 'none', secure: true, maxAgeSeconds: 60 },
    })
    const ages = { 'session-cookie-expires': '60', 'session-cookie-max-age': '7' }
    expect(actionOf({ affinity: 'cookie', ...ages }).pool?.persistence).toMatchObject({ cookie: { maxAgeSeconds: 7 } })
    const wrong = actionOf({ ...named, 'session-cookie-path': '/; Domain=x', 'session-cookie-secure': 'false' })
    expect(wrong.pool?.persistence).toEqual({ type: 'cookie', cookie: { name: 'route', sameSite: 'none' } })
    expect(wrong.problems).toHaveLength(1)
    expect(actionOf({ 'session-cookie-name': 'route' }).pool?.persistence).toBeNull()
    expect(actionOf({ 'upstream-hash-by': '$remote_addr' }).pool?.persistence?.type).toBe('source-ip')
    const two = compiled(given(1, ROOT, { affinity: 'cookie' }), given(2, ['c.example / Prefix web'], {}))
    expect(two.content.pools).toHaveLength(2)
    expect(new Set(two.content.pools.map(({ name }) => name)).size).toBe(2)
  })

  test('copies go to a Service of the namespace, and nowhere else', () => {
    expect(actionOf({ 'mirror-target': 'http://next.shop.svc.cluster.local$request_uri' }).action).toMatchObject({
      mirrors: [{ pool: 'shop/next:80', percent: 100 }],
    })
    for (const target of ['http://next.other.svc/', 'https://next.shop.svc', 'http://169.254.169.254/', '$uri']) {
      const { action, problems } = actionOf({ 'mirror-target': target })
      expect(action).not.toHaveProperty('mirrors')
      expect(problems).toEqual([`InvalidAnnotation ${annotation('mirror-target')}`])
    }
  })

  test('the default backend answers for a Service without endpoints', () => {
    expect(actionOf({ 'default-backend': 'sorry' }, 'idle').pools.map(({ name }) => name)).toEqual(['shop/sorry:80'])
    expect(actionOf({ 'default-backend': 'sorry' }).pools.map(({ name }) => name)).toEqual(['shop/web:80'])
  })
})

test('further names have the rules of the first host, unless a rule has the name', () => {
  const one = given(1, [...ROOT, 'a.example /x Prefix next'], { 'server-alias': 'b.example, *.b.example, d.example' })
  const made = compiled(one, given(2, ['d.example / Prefix sorry'], {}))
  expect(answer(made, { host: 'b.example', path: '/x' })).toBe('next')
  expect(answer(made, { host: 'x.b.example' })).toBe('web')
  expect(answer(made, { host: 'd.example' })).toBe('sorry')
  expect(problemsOf(made, one)).toEqual([`AnnotationNotTaken ${annotation('server-alias')}`])
})
