import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestService } from './testing/service.ts'

// Objects that are moved here from another Octavia keep their ids.
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const ids = () => ({
  ...{ lb: randomUUID(), pool: randomUUID(), member: randomUUID(), monitor: randomUUID() },
  ...{ listener: randomUUID(), policy: randomUUID(), rule: randomUUID() },
})

const ruleOf = (id: string) => ({ id, type: 'PATH', compare_type: 'STARTS_WITH', value: '/old' })

/** Every kind of object with a chosen id, in requests of an administrator. */
async function makeAll(chosen: ReturnType<typeof ids>): Promise<void> {
  const { project, pool: vip } = service.ids
  const make = (path: string, root: string, fields: object) => service.make(path, root, fields, 'admin')
  await make('/loadbalancers', 'loadbalancer', { id: chosen.lb, project_id: project, vip_subnet_id: vip })
  const member = { id: chosen.member, address: '10.0.0.11', protocol_port: 80 }
  const monitor = { id: chosen.monitor, type: 'TCP', delay: 5, timeout: 3, max_retries: 2 }
  const pool = { id: chosen.pool, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN', members: [member] }
  await make('/pools', 'pool', { ...pool, loadbalancer_id: chosen.lb })
  await make('/healthmonitors', 'healthmonitor', { ...monitor, pool_id: chosen.pool })
  const listener = { id: chosen.listener, protocol: 'HTTP', protocol_port: 80, default_pool_id: chosen.pool }
  await make('/listeners', 'listener', { ...listener, loadbalancer_id: chosen.lb })
  const policy = { id: chosen.policy, action: 'REJECT', rules: [ruleOf(chosen.rule)] }
  await make('/l7policies', 'l7policy', { ...policy, listener_id: chosen.listener })
}

const pathsOf = ({ lb, pool, member, monitor, listener, policy, rule }: ReturnType<typeof ids>) => [
  ...[`/loadbalancers/${lb}`, `/pools/${pool}`, `/pools/${pool}/members/${member}`, `/healthmonitors/${monitor}`],
  ...[`/listeners/${listener}`, `/l7policies/${policy}`, `/l7policies/${policy}/rules/${rule}`],
]

describe('an id that an administrator chooses', () => {
  test('is the id of the object, of every kind', async () => {
    const chosen = ids()
    await makeAll(chosen)
    for (const path of pathsOf(chosen)) {
      const { status, body } = await service.call('GET', path)
      expect([status, Object.values(body as Record<string, { id: string }>)[0]?.id], path).toEqual([
        200,
        path.split('/').at(-1),
      ])
    }
  })

  test.each([
    ['loadbalancers', 'loadbalancer', (taken: string) => ({ id: taken, vip_subnet_id: service.ids.pool }), 409],
    ['pools', 'pool', (taken: string) => ({ id: taken, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' }), 400],
    ['listeners', 'listener', (taken: string) => ({ id: taken, protocol: 'TCP', protocol_port: 81 }), 400],
  ])('is refused when one of %s has it', async (plural, root, fields, status) => {
    const taken = ids()
    await makeAll(taken)
    const id = { loadbalancers: taken.lb, pools: taken.pool, listeners: taken.listener }[plural]!
    const other = await service.make('/loadbalancers', 'loadbalancer', { vip_subnet_id: service.ids.pool })
    const parent = plural === 'loadbalancers' ? {} : { loadbalancer_id: other.id }
    const answer = await service.call('POST', `/${plural}`, { [root]: { ...fields(id), ...parent } }, 'admin')
    expect(answer.status, JSON.stringify(answer.body)).toBe(status)
    expect(JSON.stringify(answer.body)).toContain('id')
  })

  test('is refused for a rule when another rule of the load balancer has it', async () => {
    const taken = ids()
    await makeAll(taken)
    const policy = { action: 'REJECT', listener_id: taken.listener, rules: [ruleOf(taken.rule)] }
    expect(await service.call('POST', '/l7policies', { l7policy: policy }, 'admin')).toMatchObject({
      status: 400,
      body: { faultstring: `Validation failure: id: another rule has id ${taken.rule}.` },
    })
  })
})

test.each([
  ['flavorprofiles', 'flavorprofile', 'flavors', 'flavor', 'flavor_data', 'flavor_profile_id'],
  [
    ...['availabilityzoneprofiles', 'availability_zone_profile', 'availabilityzones', 'availability_zone'],
    ...['availability_zone_data', 'availability_zone_profile_id'],
  ],
] as const)('is that of one of %s, and of what is made of it', async (profiles, profile, plural, root, data, named) => {
  const id = randomUUID()
  const fields = { id, name: plural, provider_name: 'spout', [data]: '{}' }
  expect(await service.make(`/${profiles}`, profile, fields, 'admin')).toMatchObject({ id })
  expect(await service.call('POST', `/${profiles}`, { [profile]: fields }, 'admin')).toMatchObject({ status: 409 })
  // Requests name a zone by its name, not its id.
  const own = plural === 'flavors' ? { id: randomUUID() } : {}
  const offer = { ...own, name: plural, [named]: id }
  expect(await service.make(`/${plural}`, root, offer, 'admin')).toMatchObject(offer)
  if (plural !== 'flavors') return
  const again = await service.call('POST', `/${plural}`, { [root]: { ...offer, name: 'another' } }, 'admin')
  expect(again).toMatchObject({ status: 409, body: { faultstring: 'Already an entity with that specified id.' } })
})

test('for others there is no such attribute, and nobody changes an id', async () => {
  const loadbalancer = { id: randomUUID(), vip_subnet_id: service.ids.pool }
  const refused = { status: 400, body: { faultstring: expect.stringContaining('Unknown attribute for argument') } }
  expect(await service.call('POST', '/loadbalancers', { loadbalancer })).toMatchObject(refused)
  const chosen = ids()
  await makeAll(chosen)
  const listener = { id: randomUUID() }
  expect(await service.call('PUT', `/listeners/${chosen.listener}`, { listener }, 'admin')).toMatchObject(refused)
})
