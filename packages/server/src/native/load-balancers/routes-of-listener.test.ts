import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectToBalance } from '../../testing/project-to-balance.ts'
import { type Method, openTestBed, type TestBed } from '../../testing/test-bed.ts'

let bed: TestBed
let admin: string
let member: string
let projectId: string
let poolId: string

beforeAll(async () => {
  bed = await openTestBed()
  ;({ admin, projectId, poolId } = await projectToBalance(bed))
  member = (await bed.login('m', projectId, 'member')).token
})
afterAll(() => bed.close())

const call = (method: Method, path: string, payload?: unknown, token = member) =>
  bed.askNative(method, path, token, payload)

const CART = {
  name: 'cart',
  conditions: [{ on: 'path', compare: 'elements', values: ['/cart'] }],
  action: { type: 'forward', pools: [{ pool: 'cart' }] },
}
const HTTPS = { name: 'https', action: { type: 'redirect', code: 308, scheme: 'https' } }

async function create(routes: unknown) {
  const answer = await call('POST', '/load-balancers', {
    name: 'web',
    vips: [{ from: 'pool', poolId }],
    pools: [
      { name: 'cart', protocol: 'http', members: [{ address: '10.9.0.11', port: 80 }] },
      { name: 'rest', protocol: 'http' },
      { name: 'l4', protocol: 'tcp' },
    ],
    listeners: [{ name: 'l', protocol: 'http', port: 80, defaultPool: 'rest', routes }],
  })
  const path = `/load-balancers/${answer.body.id}`
  return { ...answer, path, listener: `${path}/listeners/${answer.body.listeners?.[0].id}` }
}

test('routes are created with their listener, name pools by name, and keep their ids and times', async () => {
  const { status, body, listener } = await create([CART, HTTPS])
  expect(status).toBe(201)
  const [cart, https] = body.listeners[0].routes
  expect(cart).toMatchObject({
    name: 'cart',
    enabled: true,
    conditions: [{ on: 'path', compare: 'elements', values: ['/cart'], not: false }],
    action: { type: 'forward', pools: [{ poolId: body.pools[0].id, weight: 1 }] },
    updatedAt: null,
  })
  expect(https.action).toEqual({
    type: 'redirect',
    code: 308,
    scheme: 'https',
    host: null,
    port: null,
    path: null,
    pathPrefix: null,
  })

  const moved = await call('PATCH', listener, { routes: [https, { ...CART, enabled: false }] })
  expect(moved.status).toBe(200)
  expect(moved.body.routes).toEqual([https, { ...cart, enabled: false, updatedAt: expect.any(String) }])
  expect(moved.body.updatedAt).toBeNull()

  const renamed = await call('PATCH', listener, { name: 'web' })
  expect(renamed.body.routes).toEqual(moved.body.routes)
  expect((await call('PATCH', listener, { routes: [] })).body.routes).toEqual([])
})

test.each([
  [[{ ...CART, action: { type: 'forward', pools: [{ pool: 'none' }] } }], 'action.pools[0].pool'],
  [[{ ...CART, action: { type: 'forward', pools: [{ weight: 1 }] } }], 'action.pools[0].poolId'],
  [[{ ...CART, action: { type: 'forward', pools: [{ pool: 'l4' }] } }], 'action.pools[0].poolId'],
  [[{ ...CART, conditions: [{ on: 'host', compare: 'exact', values: ['a;b'] }] }], 'conditions[0].values[0]'],
  [[{ ...CART, conditions: [{ on: 'cookie', name: 'a', values: ['b'] }] }], 'conditions[0].compare'],
  [[{ ...CART, filters: [] }], 'filters'],
])('%j is refused at %s', async (routes, field) => {
  const { status, body } = await create(routes)
  expect(status).toBe(400)
  expect(body.field).toBe(`listeners[0].routes[0].${field}`)
})

test('a pool of a route cannot be removed', async () => {
  const { body, path } = await create([CART])
  const refused = await call('DELETE', `${path}/pools/${body.pools[0].id}`)
  expect(refused.body).toMatchObject({ status: 409, detail: expect.stringContaining('is in use by listener') })
})

test('routes count against a quota', async () => {
  const { listener } = await create([CART])
  const { used } = (await call('GET', `/projects/${projectId}/quota`, undefined, admin)).body
  await call('PUT', `/projects/${projectId}/quota`, { limits: { routes: used.routes + 1 } }, admin)
  expect((await call('PATCH', listener, { routes: [CART, HTTPS] })).status).toBe(200)
  const refused = await call('PATCH', listener, { routes: [CART, HTTPS, { action: { type: 'respond', code: 404 } }] })
  expect(refused.body).toMatchObject({ status: 403, detail: expect.stringContaining('Quota for routes is') })
  await call('PUT', `/projects/${projectId}/quota`, { limits: { routes: 1000 } }, admin)
})

test('explain shows routes in order, and which are never reached', async () => {
  const { path } = await create([HTTPS, CART, { ...CART, name: 'off', enabled: false }])
  const { listeners } = (await call('GET', `${path}/explain`)).body
  expect(listeners[0].routes.map(({ name, reached }: Record<string, unknown>) => [name, reached])).toEqual([
    ['https', true],
    ['cart', false],
    ['off', false],
  ])
})

test('filters of a route are kept, and refused by their fields', async () => {
  const filters = [{ type: 'rewrite', prefix: { from: '/cart', to: '/' } }]
  const withFilters = (all: unknown) => ({ ...CART, action: { ...CART.action, filters: all } })
  const { status, body } = await create([withFilters(filters)])
  expect(status).toBe(201)
  expect(body.listeners[0].routes[0].action.filters).toEqual([{ ...filters[0], host: null, path: null }])
  const hostile = [{ type: 'request-headers', set: [{ name: 'host', value: 'a' }] }]
  expect((await create([withFilters(hostile)])).body).toMatchObject({
    code: 'InvalidField',
    field: 'listeners[0].routes[0].action.filters[0].set[0].name',
  })
})

test('time-outs and retries of a route are kept', async () => {
  const timeouts = { requestMs: 5_000, backendRequestMs: 2_000 }
  const retry = { attempts: 2, codes: [503], backoffMs: 25 }
  const { status, body } = await create([{ ...CART, action: { ...CART.action, timeouts, retry } }])
  expect(status).toBe(201)
  expect(body.listeners[0].routes[0].action).toMatchObject({ timeouts, retry })
})

describe('mirrors of a route', () => {
  const copied = (mirrors: unknown) => [{ ...CART, action: { ...CART.action, mirrors } }]

  test('name pools by name or id, keep them from removal, and are shown in the explanation', async () => {
    const { status, body, listener, path } = await create(copied([{ pool: 'rest' }, { pool: 'cart', percent: 12.5 }]))
    expect(status).toBe(201)
    const [cart, rest] = body.pools.map(({ id }: { id: string }) => id)
    const mirrors = [
      { poolId: rest, percent: 100 },
      { poolId: cart, percent: 12.5 },
    ]
    expect(body.listeners[0].routes[0].action.mirrors).toEqual(mirrors)
    await call('PATCH', listener, { defaultPoolId: null })
    expect((await call('DELETE', `${path}/pools/${rest}`)).body).toMatchObject({ status: 409 })
    expect((await call('GET', `${path}/explain`)).body.listeners[0].routes[0].action.mirrors).toEqual(mirrors)

    const less = await call('PATCH', listener, { routes: copied([{ poolId: rest, percent: 1 }]) })
    expect(less.body.routes[0].action.mirrors).toEqual([{ poolId: rest, percent: 1 }])
    expect((await call('PATCH', listener, { routes: [CART] })).body.routes[0].action).not.toHaveProperty('mirrors')
    expect((await call('DELETE', `${path}/pools/${rest}`)).status).toBe(204)
  })

  test.each([
    [[{ pool: 'none' }], 'mirrors[0].pool'],
    [[{ percent: 1 }], 'mirrors[0].poolId'],
    [[{ pool: 'rest' }, { pool: 'l4' }], 'mirrors[1].poolId'],
    [[{ pool: 'rest', percent: 101 }], 'mirrors[0].percent'],
    [[{ pool: 'rest', poolId: '11111111-1111-4111-8111-111111111111' }], 'mirrors[0].pool'],
    [[{ poolId: '11111111-1111-4111-8111-111111111111' }], 'mirrors[0].poolId'],
    [[{ pool: 'rest', address: '169.254.169.254' }], 'mirrors[0].address'],
    [[], 'mirrors'],
  ])('%j is refused at %s', async (mirrors, field) => {
    const { status, body } = await create(copied(mirrors))
    expect([status, body.field]).toEqual([400, `listeners[0].routes[0].action.${field}`])
  })
})

describe('the authorizer of a route', () => {
  const asked = (authorizer: unknown) => [{ ...CART, action: { ...CART.action, authorizer } }]

  test('names a pool by name or id, and keeps it from removal', async () => {
    const { status, body, listener, path } = await create(asked({ pool: 'rest', path: '/check' }))
    expect(status).toBe(201)
    const rest = body.pools[1].id
    expect(body.listeners[0].routes[0].action.authorizer).toMatchObject({ poolId: rest, path: '/check', method: null })
    await call('PATCH', listener, { defaultPoolId: null })
    expect((await call('DELETE', `${path}/pools/${rest}`)).body).toMatchObject({ status: 409 })
    const other = await call('PATCH', listener, { routes: asked({ poolId: rest, host: 'auth.example' }) })
    expect(other.body.routes[0].action.authorizer).toMatchObject({ poolId: rest, path: null, host: 'auth.example' })
    expect((await call('PATCH', listener, { routes: [CART] })).body.routes[0].action).not.toHaveProperty('authorizer')
    expect((await call('DELETE', `${path}/pools/${rest}`)).status).toBe(204)
  })

  test.each([
    [{ pool: 'none' }, 'authorizer.pool'],
    [{ path: '/check' }, 'authorizer.poolId'],
    [{ pool: 'l4' }, 'authorizer.poolId'],
    [{ pool: 'rest', path: '/a', pathPrefix: '/b' }, 'authorizer.pathPrefix'],
    [{ pool: 'rest', address: '169.254.169.254' }, 'authorizer.address'],
    [{ poolId: '11111111-1111-4111-8111-111111111111' }, 'authorizer.poolId'],
  ])('%j is refused at %s', async (authorizer, field) => {
    const { status, body } = await create(asked(authorizer))
    expect([status, body.field]).toEqual([400, `listeners[0].routes[0].action.${field}`])
  })
})

test('what an authorizer and a password decide together needs both', async () => {
  const alone = { ...CART.action, authorizer: { pool: 'rest' }, satisfy: 'any' }
  const { status, body } = await create([{ ...CART, action: alone }])
  expect([status, body.field]).toEqual([400, 'listeners[0].routes[0].action.satisfy'])
})

describe('one route', () => {
  test('is added last or before another, moved, replaced and removed; the others stay as they are', async () => {
    const { body, listener } = await create([CART, HTTPS])
    const [cart, https] = body.listeners[0].routes
    const namesNow = async () => (await call('GET', listener)).body.routes.map(({ name }: { name: string }) => name)

    const last = await call('POST', `${listener}/routes`, { name: 'last', action: { type: 'respond', code: 404 } })
    expect(last.status).toBe(201)
    expect(last.body).toMatchObject({ name: 'last', enabled: true, conditions: [], updatedAt: null })
    const first = await call('POST', `${listener}/routes`, { ...CART, name: 'first', before: cart.id })
    expect(first.body.action.pools[0].poolId).toBe(body.pools[0].id)
    expect(await namesNow()).toEqual(['first', 'cart', 'https', 'last'])

    const changed = await call('PUT', `${listener}/routes/${cart.id}`, { ...CART, enabled: false })
    expect(changed.body).toEqual({ ...cart, enabled: false, updatedAt: expect.any(String) })
    expect(await namesNow()).toEqual(['first', 'cart', 'https', 'last'])
    const moved = await call('PUT', `${listener}/routes/${last.body.id}`, { ...last.body, before: first.body.id })
    expect(moved.body).toEqual(last.body)
    expect(await namesNow()).toEqual(['last', 'first', 'cart', 'https'])

    expect((await call('DELETE', `${listener}/routes/${first.body.id}`)).status).toBe(204)
    const { routes, updatedAt } = (await call('GET', listener)).body
    expect(routes).toEqual([last.body, changed.body, https])
    expect(updatedAt).toBeNull()
  })

  test.each([
    [{ ...CART, action: { type: 'forward', pools: [{ pool: 'none' }] } }, 'action.pools[0].pool'],
    [{ ...CART, action: { type: 'forward', pools: [{ pool: 'l4' }] } }, 'action.pools[0].poolId'],
    [{ ...CART, conditions: [{ on: 'path', compare: 'regex', values: ['(a'] }] }, 'conditions[0].values[0]'],
    [{ ...CART, id: '11111111-1111-4111-8111-111111111111' }, 'id'],
    [{ ...CART, before: '11111111-1111-4111-8111-111111111111' }, 'before'],
    [{ ...CART, colour: 'red' }, 'colour'],
  ])('%j is refused at %s', async (draft, field) => {
    const { listener } = await create([HTTPS])
    const { status, body } = await call('POST', `${listener}/routes`, draft)
    expect([status, body.field]).toEqual([400, field])
    expect((await call('GET', listener)).body.routes).toHaveLength(1)
  })

  test('that is not there is not found, and so is one of a listener that is not there', async () => {
    const { path, listener } = await create([HTTPS])
    const nobody = '11111111-1111-4111-8111-111111111111'
    expect((await call('DELETE', `${listener}/routes/${nobody}`)).status).toBe(404)
    expect((await call('PUT', `${listener}/routes/${nobody}`, CART)).status).toBe(404)
    expect((await call('POST', `${path}/listeners/${nobody}/routes`, CART)).status).toBe(404)
  })
})

describe('several routes at once', () => {
  const names = async (listener: string) =>
    (await call('GET', listener)).body.routes.map(({ name }: { name: string }) => name)

  test('are put and removed in one version; the others keep their place and stay the same', async () => {
    const { path, body, listener } = await create([CART, HTTPS])
    const [cart, https] = body.listeners[0].routes
    const before = (await call('GET', path)).body.generation
    const made = await call('POST', `${listener}/route-changes`, {
      put: [
        { ...CART, name: 'one', before: https.id },
        { ...CART, name: 'two', before: https.id },
        { ...HTTPS, enabled: false },
      ],
      remove: [cart.id, '11111111-1111-4111-8111-111111111111'],
    })
    expect(made.status).toBe(200)
    expect(await names(listener)).toEqual(['one', 'two', 'https'])
    const { routes } = (await call('GET', listener)).body
    expect(made.body).toEqual({
      generation: before + 1,
      updatedAt: expect.any(String),
      listenerId: body.listeners[0].id,
      put: routes,
    })
    expect(routes[2]).toEqual({ ...https, enabled: false, updatedAt: expect.any(String) })

    await call('POST', `${listener}/route-changes`, { put: [{ ...CART, name: 'two', before: routes[0].id }] })
    expect(await names(listener)).toEqual(['two', 'one', 'https'])
    const same = await call('POST', `${listener}/route-changes`, { put: [{ ...CART, name: 'one' }] })
    expect(same.body).toMatchObject({ generation: before + 2, put: [routes[0]] })
  })

  test.each([
    [{ ...CART, action: { type: 'forward', pools: [{ pool: 'none' }] } }, 'put[1].action.pools[0].pool'],
    [{ ...CART, action: { type: 'forward', pools: [{ pool: 'l4' }] } }, 'put[1].action.pools[0].poolId'],
    [{ ...CART, name: 'new', before: '11111111-1111-4111-8111-111111111111' }, 'put[1].before'],
  ])('are all refused for %j, at %s', async (draft, field) => {
    const { listener } = await create([HTTPS])
    const put = [{ ...CART, name: 'good' }, draft]
    const { status, body } = await call('POST', `${listener}/route-changes`, { put })
    expect([status, body.field]).toEqual([400, field])
    expect(await names(listener)).toEqual(['https'])
  })
})
