import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { routesOf } from './conversion/convert-l7policy.ts'
import type { OctaviaPolicy } from './terms/octavia-resources.ts'
import { POLICY_ACTIONS } from './terms/words.ts'
import { TestService } from './testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const NOBODY = '11111111-2222-4333-8444-555555555555'
let lb: string
let listener: string
let pool: string
beforeEach(async () => {
  lb = (await service.make('/loadbalancers', 'loadbalancer', { vip_subnet_id: service.ids.pool })).id
  listener = (
    await service.make('/listeners', 'listener', { loadbalancer_id: lb, protocol: 'HTTP', protocol_port: 80 })
  ).id
  pool = (await service.make('/pools', 'pool', { loadbalancer_id: lb, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }))
    .id
})

const policy = (fields: object) => service.make('/l7policies', 'l7policy', { listener_id: listener, ...fields })
const rule = (policyId: string, fields: object) => service.make(`/l7policies/${policyId}/rules`, 'rule', fields)
const routes = () => service.view.get('loadBalancer', lb)!.value.listeners[0]!.routes
const positions = async (): Promise<Readonly<Record<string, number>>> => {
  const { body } = await service.call('GET', `/l7policies?listener_id=${listener}`)
  const { l7policies } = body as { l7policies: { name: string; position: number }[] }
  return Object.fromEntries(l7policies.map(({ name, position }) => [name, position]))
}
const onPath = (value: string) => ({ type: 'PATH', compare_type: 'STARTS_WITH', value })

describe('a policy', () => {
  test('becomes a route, and prints as Octavia prints it', async () => {
    const made = await policy({ name: 'api', action: 'REDIRECT_TO_POOL', redirect_pool_id: pool, tags: ['a'] })
    expect(made).toMatchObject({
      name: 'api',
      action: 'REDIRECT_TO_POOL',
      redirect_pool_id: pool,
      redirect_url: null,
      redirect_prefix: null,
      redirect_http_code: null,
      listener_id: listener,
      position: 1,
      rules: [],
      admin_state_up: true,
      tags: ['a'],
      project_id: service.ids.project,
    })
    const made2 = await rule(made.id, { type: 'HOST_NAME', compare_type: 'EQUAL_TO', value: 'Shop.example.com' })
    expect(made2).toMatchObject({
      type: 'HOST_NAME',
      compare_type: 'EQUAL_TO',
      key: null,
      value: 'Shop.example.com',
      invert: false,
    })
    await rule(made.id, { ...onPath('/api'), invert: true })
    expect(routes()).toMatchObject([
      {
        id: made.id,
        name: 'api',
        enabled: true,
        conditions: [
          { on: 'host', compare: 'exact', values: ['shop.example.com'], not: false },
          { on: 'path', compare: 'prefix', values: ['/api'], not: true },
        ],
        action: { type: 'forward', pools: [{ poolId: pool, weight: 1 }] },
      },
    ])
    const { body } = await service.call('GET', `/l7policies/${made.id}`)
    expect(body).toMatchObject({ l7policy: { rules: [{ id: made2.id }, { id: expect.any(String) }] } })
    expect(await service.call('GET', `/l7policies/${made.id}/rules/${made2.id}`)).toMatchObject({
      body: { rule: { value: 'Shop.example.com' } },
    })
    expect(await service.call('GET', `/listeners/${listener}`)).toMatchObject({
      body: { listener: { l7policies: [{ id: made.id }] } },
    })
  })

  test.each([
    [{ action: 'REJECT' }, { type: 'respond', code: 403 }],
    [
      { action: 'REDIRECT_TO_URL', redirect_url: 'https://new.example.com:8443/a?b=c' },
      { type: 'redirect', code: 302, scheme: 'https', host: 'new.example.com', port: 8443, path: '/a?b=c' },
    ],
    [
      { action: 'REDIRECT_PREFIX', redirect_prefix: 'https://new.example.com', redirect_http_code: 308 },
      { type: 'redirect', code: 308, scheme: 'https', host: 'new.example.com', port: null, path: null },
    ],
  ])('%j', async (fields, action) => {
    const { id } = await policy({ ...fields, rules: [onPath('/')] })
    expect(routes()).toMatchObject([{ id, action }])
    expect(await service.call('GET', `/l7policies/${id}`)).toMatchObject({ body: { l7policy: fields } })
  })

  test('takes no request without an enabled rule', async () => {
    const { id } = await policy({ action: 'REJECT' })
    expect(routes()).toMatchObject([{ enabled: false }])
    const { id: ruleId } = await rule(id, onPath('/admin'))
    expect(routes()).toMatchObject([{ enabled: true }])
    await service.call('PUT', `/l7policies/${id}/rules/${ruleId}`, { rule: { admin_state_up: false } })
    expect(routes()).toMatchObject([{ enabled: false }])
    expect(await service.call('GET', `/l7policies/${id}`)).toMatchObject({
      body: { l7policy: { admin_state_up: true } },
    })
  })

  test('is changed and deleted, and so are its rules', async () => {
    const { id } = await policy({ action: 'REJECT', rules: [onPath('/a'), onPath('/b')] })
    const change = { action: 'REDIRECT_TO_URL', redirect_url: 'http://other.example.com/' }
    expect(await service.call('PUT', `/l7policies/${id}`, { l7policy: change })).toMatchObject({
      status: 200,
      body: { l7policy: { ...change, redirect_http_code: 302 } },
    })
    expect(await service.call('PUT', `/l7policies/${id}`, { l7policy: { redirect_pool_id: pool } })).toMatchObject({
      body: { l7policy: { action: 'REDIRECT_TO_POOL', redirect_url: null, redirect_http_code: null } },
    })
    const { body } = await service.call('GET', `/l7policies/${id}/rules`)
    const [first] = (body as { rules: { id: string }[] }).rules
    expect((await service.call('DELETE', `/l7policies/${id}/rules/${first!.id}`)).status).toBe(204)
    expect(routes()).toMatchObject([{ conditions: [{ values: ['/b'] }] }])
    expect((await service.call('DELETE', `/l7policies/${id}`)).status).toBe(204)
    expect(routes()).toEqual([])
    expect(Object.keys(service.view.get('loadBalancer', lb)!.value.annotations)).toEqual(['octavia.provider'])
  })

  test('stays as it is when something else of the load balancer changes', async () => {
    await policy({ name: 'pool', action: 'REDIRECT_TO_POOL', redirect_pool_id: pool, rules: [onPath('/p')] })
    await policy({ name: 'reject', action: 'REJECT', rules: [onPath('/r')] })
    const before = routes()
    await service.make('/listeners', 'listener', { loadbalancer_id: lb, protocol: 'TCP', protocol_port: 22 })
    expect(routes()).toEqual(before)
    expect(await positions()).toEqual({ pool: 1, reject: 2 })
  })
})

describe('positions', () => {
  test('begin at 1; a new policy moves those behind it, and the order of the actions goes first', async () => {
    await policy({ name: 'first', action: 'REDIRECT_TO_POOL', redirect_pool_id: pool, rules: [onPath('/')] })
    await policy({ name: 'last', action: 'REJECT', rules: [onPath('/last')] })
    await policy({ name: 'new', action: 'REJECT', position: 1, rules: [onPath('/new')] })
    expect(await positions()).toEqual({ new: 1, first: 2, last: 3 })
    expect(routes().map(({ name }) => name)).toEqual(['new', 'last', 'first'])
  })

  test('change with those around them', async () => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.push((await policy({ name, action: 'REJECT', rules: [onPath('/')] })).id)
    await service.call('PUT', `/l7policies/${ids[2]}`, { l7policy: { position: 1 } })
    expect(await positions()).toEqual({ c: 1, a: 2, b: 3 })
    await service.call('PUT', `/l7policies/${ids[2]}`, { l7policy: { position: 99 } })
    expect(await positions()).toEqual({ a: 1, b: 2, c: 3 })
    await service.call('DELETE', `/l7policies/${ids[0]}`)
    expect(await positions()).toEqual({ b: 1, c: 2 })
  })

  test('whatever the policies: rejections before redirects before pools, each by position', () => {
    const model = { name: '', description: '', tags: [], enabled: true, createdAt: '', updatedAt: null }
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...POLICY_ACTIONS), { maxLength: 12 }), (actions) => {
        const policies = actions.map(
          (action, at): OctaviaPolicy => ({
            ...{ model: { id: String(at), ...model }, action, rules: [], redirectHttpCode: null },
            ...{ redirectPoolId: NOBODY, redirectUrl: 'http://a.example/', redirectPrefix: 'http://a.example' },
          }),
        )
        // The expected order, computed in a slow and simple way: each comes after all that Octavia tries before it.
        const before = (one: number, other: number): boolean => {
          const rank = (at: number) =>
            ['REJECT', 'REDIRECT_', 'REDIRECT_TO_POOL'].findLastIndex((word) => actions[at]!.startsWith(word))
          return rank(one) === rank(other) ? one < other : rank(one) < rank(other)
        }
        const order = routesOf(policies).map(({ id }) => Number(id))
        for (const [at, one] of order.entries())
          for (const other of order.slice(at + 1)) expect(before(one, other)).toBe(true)
        expect(order.toSorted((a, b) => a - b)).toEqual(actions.map((_, at) => at))
      }),
    )
  })
})

test('routes of the native API are no policies, and stay behind those', async () => {
  const own = {
    ...{
      id: NOBODY,
      name: 'own',
      description: '',
      tags: [],
      enabled: true,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: null,
    },
    ...{ conditions: [], action: { type: 'respond' as const, code: 404 } },
  }
  await service.admission.changeLoadBalancer(lb, ({ listeners }) => ({
    listeners: listeners.map((one) => ({ ...one, routes: [own] })),
  }))
  const { id } = await policy({ action: 'REJECT', rules: [onPath('/r')] })
  expect(routes().map((one) => one.id)).toEqual([id, NOBODY])
  expect(routes()[1]).toEqual(own)
  expect(await service.call('GET', `/l7policies/${NOBODY}`)).toMatchObject({ status: 404 })
  expect(await service.call('DELETE', `/l7policies/${NOBODY}`)).toMatchObject({ status: 404 })
  // After a change of its route through the native API, a policy is no policy any more.
  await service.admission.changeLoadBalancer(lb, ({ listeners }) => ({
    listeners: listeners.map((one) => ({ ...one, routes: one.routes.map((route) => ({ ...route, conditions: [] })) })),
  }))
  expect(await service.call('GET', `/l7policies/${id}`)).toMatchObject({ status: 404 })
})

test('a pool that a policy uses is not deleted', async () => {
  const { id } = await policy({ action: 'REDIRECT_TO_POOL', redirect_pool_id: pool })
  expect(await service.call('DELETE', `/pools/${pool}`)).toMatchObject({
    status: 409,
    body: { faultstring: `Pool ${pool} is in use by L7 policy ${id}` },
  })
})

test('other projects may neither see nor change them', async () => {
  const { id } = await policy({ action: 'REJECT', rules: [onPath('/r')] })
  for (const [method, path, body] of [
    ['GET', `/l7policies/${id}`, undefined],
    ['PUT', `/l7policies/${id}`, { l7policy: { name: 'x' } }],
    ['DELETE', `/l7policies/${id}`, undefined],
    ['GET', `/l7policies/${id}/rules`, undefined],
    ['POST', `/l7policies/${id}/rules`, { rule: onPath('/x') }],
  ] as const)
    expect(await service.call(method, path, body, 'stranger')).toMatchObject({ status: 403 })
  expect(await service.call('GET', '/l7policies', undefined, 'stranger')).toMatchObject({ body: { l7policies: [] } })
})

test('policies are listed in order of creation, whatever their positions', async () => {
  await policy({ name: 'first', action: 'REJECT', position: 1 })
  const made = Date.now()
  await expect.poll(() => Date.now()).toBeGreaterThan(made)
  await policy({ name: 'second', action: 'REJECT', position: 1 })
  expect(Object.keys(await positions())).toEqual(['first', 'second'])
  expect(await positions()).toEqual({ first: 2, second: 1 })
})

test.each<[string, object, object]>([
  [
    'HOST_NAME',
    { compare_type: 'ENDS_WITH', value: '.Example.com' },
    { on: 'host', compare: 'any-labels', values: ['example.com'] },
  ],
  [
    'HOST_NAME',
    { compare_type: 'ENDS_WITH', value: 'ample.com' },
    { on: 'host', compare: 'ends-with', values: ['ample.com'] },
  ],
  ['HOST_NAME', { compare_type: 'STARTS_WITH', value: 'shop.' }, { on: 'host', compare: 'prefix', values: ['shop.'] }],
  [
    'HOST_NAME',
    { compare_type: 'REGEX', value: '^(www|shop)[.]' },
    { on: 'host', compare: 'regex', values: ['^(www|shop)[.]'] },
  ],
  ['PATH', { compare_type: 'CONTAINS', value: 'api' }, { on: 'path', compare: 'contains', values: ['api'] }],
  ['PATH', { compare_type: 'ENDS_WITH', value: '.php' }, { on: 'path', compare: 'ends-with', values: ['.php'] }],
  ['PATH', { compare_type: 'REGEX', value: '^/v[0-9]/' }, { on: 'path', compare: 'regex', values: ['^/v[0-9]/'] }],
  ['FILE_TYPE', { compare_type: 'EQUAL_TO', value: 'jpg' }, { on: 'path', compare: 'ends-with', values: ['.jpg'] }],
  [
    'FILE_TYPE',
    { compare_type: 'REGEX', value: '^jpe?g$' },
    { on: 'path', compare: 'regex', values: ['\\.(?:jpe?g)$'] },
  ],
  [
    'HEADER',
    { compare_type: 'EQUAL_TO', key: 'X-Canary', value: 'yes' },
    { on: 'header', name: 'x-canary', compare: 'exact', values: ['yes'] },
  ],
  [
    'COOKIE',
    { compare_type: 'CONTAINS', key: 'Group', value: 'b' },
    { on: 'cookie', name: 'Group', compare: 'contains', values: ['b'] },
  ],
  ['SSL_CONN_HAS_CERT', { compare_type: 'EQUAL_TO', value: 'True' }, { on: 'client-certificate', values: ['present'] }],
  [
    'SSL_VERIFY_RESULT',
    { compare_type: 'EQUAL_TO', value: '0' },
    { on: 'client-certificate', values: ['present', 'absent'] },
  ],
  [
    'SSL_DN_FIELD',
    { compare_type: 'STARTS_WITH', key: 'CN', value: 'a' },
    { on: 'client-name', name: 'CN', compare: 'prefix', values: ['a'] },
  ],
])('a rule of type %s with %j becomes a condition, and prints as it was', async (type, fields, condition) => {
  const { id } = await policy({ action: 'REJECT' })
  const made = await rule(id, { type, invert: true, ...fields })
  expect(made).toMatchObject({ type, invert: true, key: null, ...fields })
  expect(routes()[0]!.conditions).toEqual([{ ...condition, not: true }])
  expect(await service.call('GET', `/l7policies/${id}/rules/${made.id}`)).toMatchObject({
    body: { rule: { type, ...fields } },
  })
})

test('a prefix may have a path, before that of the request', async () => {
  await policy({ action: 'REDIRECT_PREFIX', redirect_prefix: 'https://new.example.com:8443/old/' })
  expect(routes()[0]!.action).toMatchObject({ scheme: 'https', port: 8443, path: null, pathPrefix: '/old' })
})

describe('bad input', () => {
  const args = 'Invalid L7 Policy arguments: '
  const unsupported = (what: string) => `Provider 'spout' does not support a requested option: ${what}`
  test.each<[string, object, number, string]>([
    ['no pool', { action: 'REDIRECT_TO_POOL' }, 400, `${args}redirect_pool_id or redirect_pool must not be None`],
    ['no URL', { action: 'REDIRECT_TO_URL' }, 400, `${args}redirect_url must not be None`],
    ['no prefix', { action: 'REDIRECT_PREFIX' }, 400, `${args}redirect_prefix must not be None`],
    [
      'an unknown action',
      { action: 'DANCE' },
      400,
      "Invalid input for field/attribute action. Value: 'DANCE'. Value should be one of: REDIRECT_PREFIX, REDIRECT_TO_POOL, REDIRECT_TO_URL, REJECT",
    ],
    ['an unknown pool', { action: 'REDIRECT_TO_POOL', redirect_pool_id: NOBODY }, 404, `Pool ${NOBODY} not found.`],
    [
      'another scheme',
      { action: 'REDIRECT_TO_URL', redirect_url: 'ftp://x/' },
      501,
      unsupported('redirect_url ftp://x/: redirects are to http and https URLs here'),
    ],
    [
      'a prefix with a query',
      { action: 'REDIRECT_PREFIX', redirect_prefix: 'http://x/y?z' },
      501,
      unsupported('redirect_prefix http://x/y?z: a prefix has no query here'),
    ],
    [
      'a code that is no redirect',
      { action: 'REDIRECT_TO_URL', redirect_url: 'http://x/', redirect_http_code: 200 },
      400,
      "Invalid input for field/attribute redirect_http_code. Value: '200'. Value should be one of: 301, 302, 303, 307, 308",
    ],
    [
      'position 0',
      { action: 'REJECT', position: 0 },
      400,
      "Invalid input for field/attribute position. Value: '0'. Value should be greater or equal to 1",
    ],
    ['no listener', { action: 'REJECT', listener_id: NOBODY }, 404, `Listener ${NOBODY} not found.`],
  ])('%s', async (_, fields, status, faultstring) => {
    const before = routes()
    const body = { l7policy: { listener_id: listener, ...fields } }
    expect(await service.call('POST', '/l7policies', body)).toMatchObject({ status, body: { faultstring } })
    expect(routes()).toEqual(before)
  })

  const parsing = 'Error parsing L7Rule: Invalid L7 Rule: '
  test.each<[string, object, number, string]>([
    ['no value', { ...onPath('') }, 400, `${parsing}L7 rule type requires a value`],
    ['no key', { type: 'HEADER', compare_type: 'EQUAL_TO', value: 'x' }, 400, `${parsing}L7 rule type requires a key`],
    [
      'a comparison of another type',
      { type: 'FILE_TYPE', compare_type: 'CONTAINS', value: 'x' },
      400,
      `${parsing}invalid comparison type for rule type`,
    ],
    [
      'a header that is none',
      { type: 'HEADER', compare_type: 'EQUAL_TO', key: 'x y', value: 'y' },
      400,
      `${parsing}key x y is not the name of a header (RFC 9110)`,
    ],
    [
      'a broken expression',
      { type: 'PATH', compare_type: 'REGEX', value: '/(a' },
      400,
      `${parsing}value /(a has a ( without its ), at character 4`,
    ],
    [
      'an expression that looks around',
      { type: 'COOKIE', compare_type: 'REGEX', key: 'id', value: 'a(?!b)' },
      400,
      `${parsing}value a(?!b) has a look-around or an option in a group, which is not supported, at character 4`,
    ],
    [
      'no client certificate',
      { type: 'SSL_CONN_HAS_CERT', compare_type: 'EQUAL_TO', value: 'False' },
      400,
      `${parsing}L7rule value False is not a boolean True string.`,
    ],
    [
      'a result in words',
      { type: 'SSL_VERIFY_RESULT', compare_type: 'EQUAL_TO', value: 'ok' },
      400,
      `${parsing}L7rule type SSL_VERIFY_RESULT needs a int value, which is >= 0`,
    ],
    [
      'a name without its part',
      { type: 'SSL_DN_FIELD', compare_type: 'EQUAL_TO', value: 'alice' },
      400,
      `${parsing}L7rule type SSL_DN_FIELD needs to specify a key and a value.`,
    ],
    [
      'a part of a name that is none',
      { type: 'SSL_DN_FIELD', compare_type: 'EQUAL_TO', key: 'C N', value: 'alice' },
      400,
      `${parsing}key C N is not a part of a name, such as CN or OU`,
    ],
    [
      'a path without a slash',
      onPath('api'),
      400,
      `${parsing}value api must begin with / and hold only what RFC 3986 allows in a path; encode others as %XX`,
    ],
    [
      'a line end',
      onPath('/a\nb'),
      400,
      "Invalid input for field/attribute value. Value: '/a\nb'. Value should match the pattern ^[^\\r\\n]*$",
    ],
  ])('a rule with %s', async (_, fields, status, faultstring) => {
    const { id } = await policy({ action: 'REJECT' })
    const before = routes()
    expect(await service.call('POST', `/l7policies/${id}/rules`, { rule: fields })).toMatchObject({
      status,
      body: { faultstring },
    })
    expect(routes()).toEqual(before)
  })

  test('a listener that does not look at requests', async () => {
    const { id } = await service.make('/listeners', 'listener', {
      loadbalancer_id: lb,
      protocol: 'TCP',
      protocol_port: 22,
    })
    expect(
      await service.call('POST', '/l7policies', { l7policy: { listener_id: id, action: 'REJECT' } }),
    ).toMatchObject({
      status: 501,
      body: { faultstring: unsupported('listener_id: a listener of protocol TCP does not look at requests') },
    })
  })
})
