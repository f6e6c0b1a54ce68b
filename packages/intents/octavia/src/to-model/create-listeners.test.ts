import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestService } from '../testing/service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const POOL = { protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }
const onPath = (value: string) => ({ type: 'PATH', compare_type: 'STARTS_WITH', value })
const web = (l7policies: readonly object[], fields: object = {}) => ({
  ...{ name: 'web', protocol: 'HTTP', protocol_port: 80 },
  ...{ l7policies, ...fields },
})
const post = (fields: object) =>
  service.call('POST', '/loadbalancers', { loadbalancer: { vip_subnet_id: service.ids.pool, ...fields } })
/** The full answer to a creation, which must succeed. */
const created = async (fields: object) => {
  const { status, body } = await post(fields)
  expect(status, JSON.stringify(body)).toBe(201)
  return (body as { loadbalancer: Record<string, never> & { id: string } }).loadbalancer
}
const stored = (id: string) => service.view.get('loadBalancer', id)!.value

describe('policies of a listener that is created with its load balancer', () => {
  test('come with their rules and pools, and are answered in full', async () => {
    const answer = await created({
      pools: [{ ...POOL, name: 'shop' }],
      listeners: [
        web(
          [
            { name: 'named', action: 'REDIRECT_TO_POOL', redirect_pool: { name: 'shop' }, rules: [onPath('/shop')] },
            {
              ...{ name: 'brought', action: 'REDIRECT_TO_POOL', tags: ['a'], admin_state_up: false },
              redirect_pool: { ...POOL, name: 'cart', members: [{ address: '10.0.0.11', protocol_port: 8080 }] },
              rules: [onPath('/cart'), { ...onPath('/cart/old'), invert: true }],
            },
            { name: 'moved', action: 'REDIRECT_TO_URL', redirect_url: 'https://new.example.com/', position: 1 },
          ],
          { default_pool: { ...POOL, name: 'rest' } },
        ),
      ],
    })
    const { listeners, pools } = stored(answer.id)
    const idOf = (name: string) => pools.find((pool) => pool.name === name)!.id
    expect(answer).toMatchObject({
      listeners: [
        {
          default_pool_id: idOf('rest'),
          l7policies: [
            {
              name: 'moved',
              position: 1,
              redirect_url: 'https://new.example.com/',
              redirect_http_code: 302,
              rules: [],
            },
            {
              ...{ name: 'named', position: 2, redirect_pool_id: idOf('shop'), listener_id: listeners[0]!.id },
              rules: [{ type: 'PATH', compare_type: 'STARTS_WITH', value: '/shop', invert: false, key: null }],
            },
            {
              ...{ name: 'brought', position: 3, redirect_pool_id: idOf('cart'), tags: ['a'], admin_state_up: false },
              rules: [{ value: '/cart' }, { value: '/cart/old', invert: true }],
            },
          ],
        },
      ],
      pools: [{ name: 'shop' }, { name: 'rest' }, { name: 'cart', members: [{ address: '10.0.0.11' }] }],
    })
    // Redirects are tried before pools.
    expect(listeners[0]!.routes).toMatchObject([
      { name: 'moved', enabled: false, action: { type: 'redirect', host: 'new.example.com' } },
      { name: 'named', enabled: true, action: { type: 'forward', pools: [{ poolId: idOf('shop') }] } },
      { name: 'brought', enabled: false, action: { type: 'forward', pools: [{ poolId: idOf('cart') }] } },
    ])
  })

  test('are the same as those created one by one', async () => {
    const policies = [
      { name: 'b', action: 'REJECT', rules: [onPath('/b')] },
      { name: 'a', action: 'REJECT', position: 1, rules: [onPath('/a')] },
      { name: 'd', action: 'REDIRECT_PREFIX', redirect_prefix: 'https://new.example.com', position: 99, rules: [] },
      { name: 'c', action: 'REDIRECT_TO_POOL', position: 2, rules: [onPath('/c')] },
    ]
    const toPool = (of: object) => (policy: object) =>
      'action' in policy && policy.action === 'REDIRECT_TO_POOL' ? { ...policy, ...of } : policy
    const atOnce = await created({
      listeners: [web(policies.map(toPool({ redirect_pool: { name: 'p' } })))],
      pools: [{ ...POOL, name: 'p' }],
    })
    const oneByOne = await created({ listeners: [web([])], pools: [{ ...POOL, name: 'p' }] })
    const { listeners, pools } = stored(oneByOne.id)
    for (const policy of policies.map(toPool({ redirect_pool_id: pools[0]!.id })))
      await service.make('/l7policies', 'l7policy', { ...policy, listener_id: listeners[0]!.id })
    const routes = (id: string) => {
      const lb = stored(id)
      return lb.listeners[0]!.routes.map(({ name, enabled, conditions, action }) => ({
        ...{ name, enabled, conditions },
        action: action.type === 'forward' ? lb.pools.map(({ name: pool }) => pool) : action,
      }))
    }
    expect(routes(atOnce.id)).toEqual(routes(oneByOne.id))
    expect(routes(atOnce.id).map(({ name }) => name)).toEqual(['a', 'b', 'd', 'c'])
  })

  test('drop a pool that their action does not use, but the pool is created', async () => {
    const { id } = await created({
      listeners: [web([{ action: 'REJECT', redirect_pool: { ...POOL, name: 'unused' }, rules: [onPath('/')] }])],
    })
    const { listeners, pools } = stored(id)
    expect(pools).toMatchObject([{ name: 'unused' }])
    expect(listeners[0]!.routes).toMatchObject([{ action: { type: 'respond', code: 403 } }])
  })

  test('are deleted with their load balancer', async () => {
    const { id } = await created({ listeners: [web([{ name: 'last', action: 'REJECT' }])] })
    const policyId = stored(id).listeners[0]!.routes[0]!.id
    expect(await service.call('GET', `/l7policies/${policyId}`)).toMatchObject({ body: { l7policy: { name: 'last' } } })
    await service.call('DELETE', `/loadbalancers/${id}?cascade=true`)
    expect(await service.call('GET', `/l7policies/${policyId}`)).toMatchObject({ status: 404 })
  })
})

test('a listener of its own is created with its policies, too', async () => {
  const { id } = await created({})
  const listener = await service.make('/listeners', 'listener', {
    ...web([
      { action: 'REDIRECT_TO_POOL', redirect_pool: { ...POOL, name: 'cart' }, rules: [onPath('/cart')] },
      { action: 'REDIRECT_TO_POOL', redirect_pool: { name: 'cart' }, rules: [onPath('/basket')] },
    ]),
    loadbalancer_id: id,
  })
  const { listeners, pools } = stored(id)
  expect(listener).toMatchObject({ l7policies: listeners[0]!.routes.map(({ id: policy }) => ({ id: policy })) })
  const toCart = { action: { type: 'forward', pools: [{ poolId: pools[0]!.id }] } }
  expect(listeners[0]!.routes).toMatchObject([toCart, toCart])
})

describe('is refused as a whole:', () => {
  const validation = 'Validation failure: '
  const redirect = (redirect_pool: object) => ({ action: 'REDIRECT_TO_POOL', redirect_pool })
  test.each<[string, object, number, string]>([
    [
      'a pool without a name',
      { listeners: [web([redirect({ ...POOL })])] },
      400,
      `${validation}Pools must be named when creating a fully populated loadbalancer.`,
    ],
    [
      'two pools of one name',
      { listeners: [web([redirect({ ...POOL, name: 'p' })])], pools: [{ ...POOL, name: 'p' }] },
      400,
      `${validation}Pool names must be unique when creating a fully populated loadbalancer.`,
    ],
    [
      'the name of no pool',
      { listeners: [web([redirect({ name: 'q' })])], pools: [{ ...POOL, name: 'p' }] },
      400,
      `${validation}Pool 'q' was referenced but no full definition was found.`,
    ],
    [
      'half a pool',
      { listeners: [web([redirect({ name: 'p', protocol: 'HTTP' })])] },
      400,
      `${validation}Pool definition for 'p' missing required attribute: lb_algorithm`,
    ],
    [
      'no pool',
      { listeners: [web([{ action: 'REDIRECT_TO_POOL' }])] },
      400,
      'Invalid L7 Policy arguments: redirect_pool_id or redirect_pool must not be None',
    ],
    [
      'the id of a pool, which cannot exist yet',
      { listeners: [web([{ action: 'REDIRECT_TO_POOL', redirect_pool_id: '11111111-2222-4333-8444-555555555555' }])] },
      400,
      'Unknown attribute for argument load_balancer.loadbalancer.listeners.l7policies: redirect_pool_id',
    ],
    [
      'a pool of another protocol',
      { listeners: [web([redirect({ name: 'p', protocol: 'UDP', lb_algorithm: 'ROUND_ROBIN' })])] },
      400,
      `${validation}The pool protocol 'UDP' is invalid while the listener protocol is 'HTTP'.`,
    ],
    [
      'an unknown action',
      { listeners: [web([{ action: 'DANCE' }])] },
      400,
      "Invalid input for field/attribute action. Value: 'DANCE'. Value should be one of: REDIRECT_PREFIX, REDIRECT_TO_POOL, REDIRECT_TO_URL, REJECT",
    ],
    [
      'a broken rule behind a good one',
      { listeners: [web([{ action: 'REJECT', rules: [onPath('/a'), { ...onPath('/(b'), compare_type: 'REGEX' }] }])] },
      400,
      'Error parsing L7Rule: Invalid L7 Rule: value /(b has a ( without its ), at character 4',
    ],
    [
      'policies that are no list',
      { listeners: [{ ...web([]), l7policies: 'all' }] },
      400,
      "Invalid input for field/attribute l7policies. Value: 'all'. Value not a valid list: all",
    ],
    [
      'a listener that does not look at requests',
      { listeners: [web([{ action: 'REJECT' }], { protocol: 'TCP' })] },
      501,
      "Provider 'spout' does not support a requested option: listener_id: a listener of protocol TCP does not look at requests",
    ],
  ])('%s', async (_, fields, status, faultstring) => {
    const before = service.view.list('loadBalancer').length
    expect(await post(fields)).toMatchObject({ status, body: { faultstring } })
    expect(service.view.list('loadBalancer').length).toBe(before)
  })

  test('more policies than the quota allows', async () => {
    const before = service.view.list('loadBalancer').length
    await service.call('PUT', `/quotas/${service.ids.project}`, { quota: { l7policy: 1 } }, 'admin')
    const two = { listeners: [web([{ action: 'REJECT' }, { action: 'REJECT' }])] }
    expect(await post(two)).toMatchObject({
      status: 403,
      body: { faultstring: 'Quota has been met for resources: L7 Policy' },
    })
    expect(service.view.list('loadBalancer').length).toBe(before)
    expect((await service.call('DELETE', `/quotas/${service.ids.project}`, undefined, 'admin')).status).toBe(202)
  })

  test('rules up to the quota, in a graph and one by one; a disabled one counts once it is enabled', async () => {
    const rules = async (): Promise<number> => service.admission.quotaOf(service.ids.project).used.routeConditions
    const used = await rules()
    await service.call('PUT', `/quotas/${service.ids.project}`, { quota: { l7rule: used + 2 } }, 'admin')
    const met = { status: 403, body: { faultstring: 'Quota has been met for resources: L7 Rule' } }
    expect(
      await post({ listeners: [web([{ action: 'REJECT', rules: [onPath('/a'), onPath('/b'), onPath('/c')] }])] }),
    ).toMatchObject(met)
    const { id } = await created({ listeners: [web([{ action: 'REJECT', rules: [onPath('/a')] }])] })
    const path = `/l7policies/${stored(id).listeners[0]!.routes[0]!.id}/rules`
    expect((await service.call('POST', path, { rule: onPath('/b') })).status).toBe(201)
    expect(await rules()).toBe(used + 2)
    expect(await service.call('POST', path, { rule: onPath('/c') })).toMatchObject(met)
    const idle = await service.call('POST', path, { rule: { ...onPath('/c'), admin_state_up: false } })
    const { rule } = idle.body as { rule: { id: string } }
    const enable = () => service.call('PUT', `${path}/${rule.id}`, { rule: { admin_state_up: true } })
    expect(await enable()).toMatchObject(met)
    expect((await service.call('DELETE', `/quotas/${service.ids.project}`, undefined, 'admin')).status).toBe(202)
    expect((await enable()).status).toBe(200)
  })

  test('rules of one policy up to a hundred', async () => {
    const { id } = await created({
      listeners: [web([{ action: 'REJECT', rules: Array.from({ length: 100 }, (_, at) => onPath(`/${at}`)) }])],
    })
    const policy = stored(id).listeners[0]!.routes[0]!
    expect(await service.call('POST', `/l7policies/${policy.id}/rules`, { rule: onPath('/more') })).toMatchObject({
      ...{ status: 409, body: { faultstring: `Too many rules on L7 policy ${policy.id}` } },
    })
    expect(stored(id).listeners[0]!.routes[0]!.conditions).toHaveLength(100)
  })
})
