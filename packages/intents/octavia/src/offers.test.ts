import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestService, type Who } from './testing/service.ts'

let service: TestService
let groupId: string
beforeAll(async () => {
  service = await TestService.start()
  await service.admission.createNodeGroup({ name: 'default' })
  groupId = (await service.admission.createNodeGroup({ name: 'edge' })).id
})
afterAll(() => service.stop())

type Body = Readonly<Record<string, unknown>> & { readonly id: string }
const as =
  (who: Who) =>
  async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<readonly [number, never]> => {
    const answer = await service.call(method, path, body, who)
    return [answer.status, answer.body as never]
  }
const admin = as('admin')
const make = async (path: string, root: string, fields: object): Promise<Body> => {
  const [status, body] = await admin('POST', path, { [root]: fields })
  expect([status, body]).toEqual([201, body])
  return body[root]
}
let count = 0
const newProfile = (data: object = {}) =>
  make('/flavorprofiles', 'flavorprofile', {
    name: `profile-${++count}`,
    provider_name: 'spout',
    flavor_data: JSON.stringify(data),
  })
const newFlavor = async (data: object = {}, fields: object = {}) =>
  make('/flavors', 'flavor', { name: `flavor-${++count}`, flavor_profile_id: (await newProfile(data)).id, ...fields })
const newZoneProfile = (data: object = {}) =>
  make('/availabilityzoneprofiles', 'availability_zone_profile', {
    name: `profile-${++count}`,
    provider_name: 'spout',
    availability_zone_data: JSON.stringify(data),
  })
const newZone = async (data: object = {}, fields: object = {}) =>
  make('/availabilityzones', 'availability_zone', {
    name: `zone-${++count}`,
    availability_zone_profile_id: (await newZoneProfile(data)).id,
    ...fields,
  })
const newLoadBalancer = (fields: object) =>
  as('member')('POST', '/loadbalancers', { loadbalancer: { vip_subnet_id: service.ids.pool, ...fields } })
const faultOf = async (work: Promise<readonly [number, { faultstring: string }]>) => {
  const [status, { faultstring }] = await work
  return `${status} ${faultstring}`
}

describe('a flavor', () => {
  test('is a class: its load balancers are where its profile says, and listeners are bounded', async () => {
    const { id } = await newFlavor({ node_group: 'edge', connection_limit: 10, loadbalancer_topology: 'SINGLE' })
    const [status, { loadbalancer }] = await newLoadBalancer({ flavor_id: id })
    expect([status, loadbalancer]).toMatchObject([201, { flavor_id: id, availability_zone: null }])
    const { id: lb } = loadbalancer as Body
    expect(service.view.get('loadBalancer', lb)?.value).toMatchObject({ classId: id, nodeGroupId: groupId })
    const listener = { loadbalancer_id: lb, protocol: 'TCP', protocol_port: 80 }
    expect(await faultOf(as('member')('POST', '/listeners', { listener: { ...listener, connection_limit: 11 } }))).toBe(
      "400 Validation failure: connection_limit: its load balancer's class allows 10 connections",
    )
    const [, { loadbalancers }] = await as('member')('GET', `/loadbalancers?flavor_id=${id}&fields=id`)
    expect(loadbalancers).toEqual([{ id: lb }])
    expect(await faultOf(admin('DELETE', `/flavors/${id}`))).toBe(`409 Flavor ${id} is in use and cannot be modified.`)
  })

  test('gives its load balancers proxies of their own', async () => {
    const data = { dedicated_proxy: true, proxy_memory_mb: 64, proxy_processors: 0.5, proxy_connections: 1000 }
    const { id } = await newFlavor(data)
    const dedicatedProxy = { memoryMegabytes: 64, processors: 0.5, connections: 1000 }
    expect(service.view.get('loadBalancerClass', id)?.value).toMatchObject({ dedicatedProxy })
    const native = await service.admission.createLoadBalancerClass({ name: 'own', dedicatedProxy })
    const [, { flavorprofile }] = await admin('GET', `/flavorprofiles/${native.id}`)
    expect(JSON.parse((flavorprofile as { flavor_data: string }).flavor_data)).toEqual(data)
    const shared = await newFlavor({ dedicated_proxy: false })
    expect(service.view.get('loadBalancerClass', shared.id)?.value).not.toHaveProperty('dedicatedProxy')
  })

  test('limits the size of requests', async () => {
    const data = { request_header_bytes: 4096, request_body_bytes: 1_048_576 }
    const { id } = await newFlavor(data)
    const requestSizes = { headerBytes: 4096, bodyBytes: 1_048_576 }
    expect(service.view.get('loadBalancerClass', id)?.value).toMatchObject({ requestSizes })
    const native = await service.admission.createLoadBalancerClass({ name: 'sized', requestSizes })
    const [, { flavorprofile }] = await admin('GET', `/flavorprofiles/${native.id}`)
    expect(JSON.parse((flavorprofile as { flavor_data: string }).flavor_data)).toEqual(data)
  })

  test('is written by administrators and read by all', async () => {
    const flavor = await newFlavor({}, { description: 'fast' })
    expect(flavor).toEqual({
      id: flavor.id,
      name: flavor.name,
      description: 'fast',
      enabled: true,
      flavor_profile_id: flavor.flavor_profile_id,
    })
    for (const who of ['reader', 'member', 'stranger'] as const)
      expect(await as(who)('GET', `/flavors/${flavor.id}`)).toEqual([200, { flavor }])
    for (const [method, path, body] of [
      ['POST', '/flavors', { flavor: { name: 'x', flavor_profile_id: flavor.flavor_profile_id } }],
      ['PUT', `/flavors/${flavor.id}`, { flavor: { name: 'x' } }],
      ['DELETE', `/flavors/${flavor.id}`],
      ['GET', '/flavorprofiles'],
      ['GET', `/flavorprofiles/${flavor.flavor_profile_id}`],
      ['GET', '/availabilityzoneprofiles'],
      ['POST', '/availabilityzones', { availability_zone: { name: 'x', availability_zone_profile_id: flavor.id } }],
    ] as const)
      expect((await as('member')(method, path, body))[0]).toBe(403)
    const [status, body] = await admin('PUT', `/flavors/${flavor.id}`, {
      flavor: { description: null, enabled: false },
    })
    expect([status, body]).toEqual([200, { flavor: { ...flavor, description: '', enabled: false } }])
    expect(await faultOf(newLoadBalancer({ flavor_id: flavor.id }))).toBe(
      `400 The selected flavor is not allowed in this deployment: ${flavor.id}`,
    )
  })

  test('is refused once the project has as many load balancers of it as its quota says', async () => {
    const { id, name } = await newFlavor()
    await service.admission.setQuota(service.ids.project, {}, { [id]: 1 })
    expect((await newLoadBalancer({ flavor_id: id }))[0]).toBe(201)
    expect(await faultOf(newLoadBalancer({ flavor_id: id }))).toBe(
      `403 Quota has been met for resources: load balancers of class ${String(name)} (limit 1, 1 in use)`,
    )
  })

  test('has a name of its own', async () => {
    const { name, flavor_profile_id } = await newFlavor()
    const again = admin('POST', '/flavors', { flavor: { name, flavor_profile_id } })
    expect(await faultOf(again)).toBe(`409 A flavor of ${String(name)} already exists.`)
  })

  test('and its profile follow from a class that was made natively', async () => {
    const { id } = await service.admission.createLoadBalancerClass({ name: 'gold', nodeGroupId: groupId })
    expect(await as('reader')('GET', `/flavors/${id}`)).toMatchObject([200, { flavor: { flavor_profile_id: id } }])
    expect(await admin('GET', `/flavorprofiles/${id}`)).toEqual([
      200,
      { flavorprofile: { id, name: 'gold', provider_name: 'amphora', flavor_data: '{"node_group":"edge"}' } },
    ])
    for (const [method, body] of [['PUT', { flavorprofile: { name: 'x' } }], ['DELETE']] as const)
      expect((await admin(method, `/flavorprofiles/${id}`, body))[0]).toBe(409)
    const like = await make('/flavors', 'flavor', { name: 'like gold', flavor_profile_id: id })
    expect(service.view.get('loadBalancerClass', like.id)?.value).toMatchObject({ nodeGroupId: groupId })
  })

  test('that is for other projects does not exist', async () => {
    const { id } = await service.admission.createLoadBalancerClass({
      name: 'theirs',
      projectIds: [service.ids.otherProject],
    })
    expect((await as('member')('GET', `/flavors/${id}`))[0]).toBe(404)
    expect((await as('stranger')('GET', `/flavors/${id}`))[0]).toBe(200)
    expect(await faultOf(newLoadBalancer({ flavor_id: id }))).toBe('400 Validation failure: Invalid flavor_id.')
  })
})

describe('a flavor profile', () => {
  test.each<[string, object, string]>([
    ['no JSON', { flavor_data: '{' }, '400 { is not a valid option for flavor_data'],
    ['no object', { flavor_data: '[1]' }, '501'],
    ['what virtual machines have', { flavor_data: '{"compute_flavor":"big"}' }, '501'],
    ['an unknown group', { flavor_data: '{"node_group":"nowhere"}' }, '400 Node group nowhere not found.'],
    [
      'limits of a proxy that is not its own',
      { flavor_data: '{"proxy_memory_mb":64}' },
      'flavor_data.proxy_memory_mb: needs dedicated_proxy to be true',
    ],
    ['too little memory', { flavor_data: '{"dedicated_proxy":true,"proxy_memory_mb":1}' }, 'proxy_memory_mb'],
    [
      'headers that a shared proxy has no room for',
      { flavor_data: '{"request_header_bytes":12289}' },
      'flavor_data.request_header_bytes: more than 12288 needs dedicated_proxy to be true',
    ],
    ['another topology', { flavor_data: '{"loadbalancer_topology":"RING"}' }, '501'],
    ['a provider of elsewhere', { provider_name: 'f5' }, "400 Provider 'f5' is not enabled."],
    ['a long text', { flavor_data: `{"a":"${'x'.repeat(4096)}"}` }, '400'],
  ])('is refused for %s', async (_what, fields, message) => {
    const whole = { name: 'p', provider_name: 'spout', flavor_data: '{}', ...fields }
    expect(await faultOf(admin('POST', '/flavorprofiles', { flavorprofile: whole }))).toContain(message)
  })

  test('keeps what flavors were made of', async () => {
    const { flavor_profile_id: id } = await newFlavor({ connection_limit: 7 })
    const put = (flavorprofile: object) => admin('PUT', `/flavorprofiles/${String(id)}`, { flavorprofile })
    const inUse = `409 Flavor profile ${String(id)} is in use and cannot be modified.`
    expect(await faultOf(put({ flavor_data: '{}' }))).toBe(inUse)
    expect(await faultOf(admin('DELETE', `/flavorprofiles/${String(id)}`))).toBe(inUse)
    expect((await put({ name: 'renamed' }))[1]).toMatchObject({ flavorprofile: { name: 'renamed' } })
  })
})

describe('an availability zone', () => {
  test('is called by its name, decides about the node group, and is shown', async () => {
    const zone = await newZone({ compute_zone: 'edge', management_network: service.ids.network })
    const name = String(zone.name)
    expect(Object.keys(zone)).toEqual(['name', 'description', 'enabled', 'availability_zone_profile_id'])
    const [, { loadbalancer }] = await newLoadBalancer({ availability_zone: name })
    expect(loadbalancer).toMatchObject({ availability_zone: name, flavor_id: null })
    expect(service.view.get('loadBalancer', (loadbalancer as Body).id)?.value.nodeGroupId).toBe(groupId)
    expect(await faultOf(admin('DELETE', `/availabilityzones/${name}`))).toBe(
      `409 Availability Zone ${name} is in use and cannot be modified.`,
    )
    const put = await admin('PUT', `/availabilityzones/${name}`, { availability_zone: { enabled: false } })
    expect(put).toEqual([200, { availability_zone: { ...zone, enabled: false } }])
    expect(await faultOf(newLoadBalancer({ availability_zone: name }))).toBe(
      `400 The selected availability_zone is not allowed in this deployment: ${name}`,
    )
    const [, renamed] = await admin('PUT', `/availabilityzones/${name}`, { availability_zone: { name: 'x' } })
    expect(renamed).toMatchObject({ faultstring: expect.stringContaining('Unknown attribute') })
    expect(await faultOf(newLoadBalancer({ availability_zone: 'nowhere' }))).toBe(
      '400 Validation failure: Invalid availability zone.',
    )
  })

  test('says what networks the VIP may be from', async () => {
    const { name } = await newZone({ valid_vip_networks: [service.ids.network] })
    expect(await faultOf(newLoadBalancer({ availability_zone: name }))).toContain('has no addresses of network')
    const inside = { availability_zone: name, vip_subnet_id: service.ids.subnet }
    expect((await newLoadBalancer(inside))[0]).toBe(201)
  })

  test('and a flavor that name different groups are refused', async () => {
    const { id } = await newFlavor({ node_group: 'default' })
    const { name } = await newZone({ compute_zone: 'edge' })
    expect(await faultOf(newLoadBalancer({ flavor_id: id, availability_zone: name }))).toContain(
      'names another node group than',
    )
  })

  test('stays known when a listener is added', async () => {
    const { name } = await newZone()
    const [, { loadbalancer }] = await newLoadBalancer({ availability_zone: name })
    const { id } = loadbalancer as Body
    await service.make('/listeners', 'listener', { loadbalancer_id: id, protocol: 'TCP', protocol_port: 80 })
    expect(await as('member')('GET', `/loadbalancers/${id}`)).toMatchObject([
      200,
      { loadbalancer: { availability_zone: name } },
    ])
  })
})

test('capabilities name what profiles may say', async () => {
  const names = async (path: string, key: string) =>
    ((await admin('GET', path))[1][key] as { name: string }[]).map(({ name }) => name)
  const flavor = '/providers/spout/flavor_capabilities'
  expect(await names(flavor, 'flavor_capabilities')).toEqual([
    'loadbalancer_topology',
    'node_group',
    'connection_limit',
    'dedicated_proxy',
    'proxy_memory_mb',
    'proxy_processors',
    'proxy_connections',
    'request_header_bytes',
    'request_body_bytes',
  ])
  expect(await names('/providers/spout/availability_zone_capabilities', 'availability_zone_capabilities')).toEqual([
    'compute_zone',
    'management_network',
    'volume_zone',
    'valid_vip_networks',
  ])
  expect((await admin('GET', `${flavor}?name=node_group&fields=name`))[1]).toEqual({
    flavor_capabilities: [{ name: 'node_group' }],
  })
  expect((await as('member')('GET', flavor))[0]).toBe(403)
  expect((await admin('GET', '/providers/f5/flavor_capabilities'))[0]).toBe(400)
})
