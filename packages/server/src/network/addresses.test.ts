import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../testing/test-bed.ts'

let bed: TestBed
let member: string
let reader: string
let stranger: string
let poolId: string
let portId: string
let loadBalancerId: string

beforeAll(async () => {
  bed = await openTestBed()
  const words = { name: 'one', description: '' }
  const projectId = (await bed.admission.createProject(words)).id
  const otherId = (await bed.admission.createProject({ ...words, name: 'two' })).id
  member = (await bed.login('m', projectId, 'member')).token
  reader = (await bed.login('r', projectId, 'reader')).token
  stranger = (await bed.login('s', otherId, 'member')).token
  const pool = await bed.admission.createAddressPool({
    ...words,
    ranges: [{ first: '192.0.2.10', last: '192.0.2.60' }],
    cidr: '192.0.2.0/24',
    gatewayIp: null,
    projectIds: null,
    quarantineSeconds: 300,
  })
  poolId = pool.id
  const network = await bed.admission.createNetwork({
    ...words,
    projectId,
    returnPath: 'snat',
    segment: { physicalNetwork: 'physnet1', vlan: 7 },
  })
  const subnet = await bed.admission.addSubnet(network.id, {
    ...words,
    cidr: '10.0.0.0/24',
    gatewayIp: null,
    nodeRange: null,
  })
  const loadBalancer = await bed.admission.createLoadBalancer({
    ...words,
    projectId,
    tags: [],
    enabled: true,
    vips: [{ from: 'subnet', networkId: network.id, subnetId: subnet.id, address: null }],
    listeners: [],
    pools: [],
    nodeGroupId: null,
    annotations: {},
  })
  loadBalancerId = loadBalancer.id
  portId = loadBalancer.vips[0]?.addressId ?? ''
})
afterAll(() => bed.close())

const ask = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, token = member) =>
  bed.ask(method, `/network/v2.0/${path}`, token, body)
const put = (id: string, floatingip: object) => ask('PUT', `floatingips/${id}`, { floatingip })
const vips = () => bed.view.get('loadBalancer', loadBalancerId)?.value.vips.map(({ address }) => address)

describe('a floating IP', () => {
  let id: string
  let address: string
  beforeEach(async () => {
    const { status, body } = await ask('POST', 'floatingips', {
      floatingip: { floating_network_id: poolId, port_id: portId, description: 'of a Service' },
    })
    expect(status).toBe(201)
    ;({ id, floating_ip_address: address } = body.floatingip)
    expect(vips()).toContain(address)
    return async () => expect((await ask('DELETE', `floatingips/${id}`)).status).toBe(204)
  })

  test('leaves its port by null, and by an empty change as cloud-provider-openstack sends it', async () => {
    for (const change of [{}, { port_id: null }, { port_id: null, fixed_ip_address: null }]) {
      const free = await put(id, change)
      expect(free).toMatchObject({ status: 200, body: { floatingip: { id, port_id: null, status: 'DOWN' } } })
      expect(vips()).not.toContain(address)
      const bound = await put(id, { port_id: portId })
      expect(bound).toMatchObject({ status: 200, body: { floatingip: { port_id: portId, status: 'ACTIVE' } } })
      expect(vips()).toContain(address)
    }
  })

  test('is answered for once the nodes have its load balancer', async () => {
    const waitedFor = async (method: 'PUT' | 'POST' | 'DELETE', path: string, floatingip?: object) => {
      bed.settled.length = 0
      const { body } = await ask(method, path, floatingip && { floatingip })
      const seen = bed.settled.map((lb) => [lb.id, lb.vips.length])
      return [seen, body?.floatingip?.id]
    }
    expect(await waitedFor('PUT', `floatingips/${id}`, {})).toEqual([[[loadBalancerId, 1]], id])
    expect(await waitedFor('PUT', `floatingips/${id}`, { port_id: portId })).toEqual([[[loadBalancerId, 2]], id])
    const [seen, other] = await waitedFor('POST', 'floatingips', { floating_network_id: poolId, port_id: portId })
    expect(seen).toEqual([[loadBalancerId, 3]])
    expect(await waitedFor('DELETE', `floatingips/${other}`)).toEqual([[[loadBalancerId, 2]], undefined])
    const [nobody, free] = await waitedFor('POST', 'floatingips', { floating_network_id: poolId })
    expect(nobody).toEqual([])
    expect(await waitedFor('DELETE', `floatingips/${free}`)).toEqual([[], undefined])
  })

  test('keeps its port when only its description changes, and takes both changes at once', async () => {
    expect(await put(id, { description: 'mine' })).toMatchObject({
      status: 200,
      body: { floatingip: { description: 'mine', port_id: portId } },
    })
    expect(vips()).toContain(address)
    expect(await put(id, { port_id: null, description: '' })).toMatchObject({
      body: { floatingip: { description: '', port_id: null } },
    })
  })

  test('names the field of a change that it cannot make', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{ description: 'x'.repeat(256) }, 'floatingip.description'],
      [{ fixed_ip_address: '10.0.0.9' }, 'floatingip.fixed_ip_address'],
      [{ port_id: portId, fixed_ip_address: '10.0.0.9' }, 'floatingip.fixed_ip_address'],
      [{ floating_ip_address: '192.0.2.11' }, 'floatingip.floating_ip_address'],
    ]
    for (const [change, field] of cases) {
      const { status, body } = await put(id, change)
      expect([status, body.NeutronError.message]).toEqual([400, expect.stringContaining(field)])
    }
    expect(vips()).toContain(address)
  })

  test('has tags, written as a set and one by one, and is found by them', async () => {
    const path = `floatingips/${id}/tags`
    expect((await ask('GET', path)).body).toEqual({ tags: [] })
    expect(await ask('PUT', path, { tags: ['red', 'blue', 'red'] })).toMatchObject({
      status: 200,
      body: { tags: ['red', 'blue'] },
    })
    expect((await ask('PUT', `${path}/a%2Fb`)).status).toBe(201)
    expect((await ask('PUT', `${path}/red`)).status).toBe(201)
    expect((await ask('GET', path)).body).toEqual({ tags: ['red', 'blue', 'a/b'] })
    expect((await ask('GET', `${path}/blue`)).status).toBe(204)
    expect((await ask('GET', `${path}/green`)).status).toBe(404)
    expect((await ask('DELETE', `${path}/a%2Fb`)).status).toBe(204)
    expect((await ask('DELETE', `${path}/a%2Fb`)).status).toBe(404)
    expect((await ask('GET', `floatingips/${id}`)).body.floatingip.tags).toEqual(['red', 'blue'])
    const found = async (query: string) => (await ask('GET', `floatingips?${query}`)).body.floatingips.length
    for (const [query, count] of [
      ['tags=red', 1],
      ['tags=red,blue', 1],
      ['tags=red,green', 0],
      ['tags-any=red,green', 1],
      ['tags-any=green', 0],
      ['not-tags=red,blue', 0],
      ['not-tags=red,green', 1],
      ['not-tags-any=red,green', 0],
      ['not-tags-any=green', 1],
    ] as const)
      expect([query, await found(query)]).toEqual([query, count])
    expect((await ask('DELETE', path)).status).toBe(204)
    expect((await ask('GET', path)).body).toEqual({ tags: [] })
  })

  test('refuses tags beyond its limits', async () => {
    const path = `floatingips/${id}/tags`
    for (const [tags, reason] of [
      [Array.from({ length: 51 }, (_, at) => `t${at}`), 'tags'],
      [['x'.repeat(61)], 'tags[0]'],
      [[''], 'tags[0]'],
      [[7], 'tags[0]'],
      ['red', 'tags'],
      [['a,b'], 'tags[0]'],
    ] as const) {
      const { status, body } = await ask('PUT', path, { tags })
      expect([status, body.NeutronError.message]).toEqual([400, expect.stringContaining(reason)])
    }
    expect((await ask('PUT', path, {})).body.NeutronError.message).toContain('tags')
    expect((await ask('PUT', path, { tags: Array.from({ length: 50 }, (_, at) => `t${at}`) })).status).toBe(200)
    expect((await ask('PUT', `${path}/one-more`)).status).toBe(400)
    expect((await ask('PUT', `${path}/${'x'.repeat(61)}`)).status).toBe(400)
  })

  test('is described and tagged by members of its project alone', async () => {
    for (const [token, status] of [
      [reader, 403],
      [stranger, 404],
    ] as const) {
      const path = `floatingips/${id}`
      expect((await ask('PUT', path, { floatingip: { description: 'x' } }, token)).status).toBe(status)
      expect((await ask('PUT', `${path}/tags`, { tags: ['x'] }, token)).status).toBe(status)
      expect((await ask('PUT', `${path}/tags/x`, undefined, token)).status).toBe(status)
      expect((await ask('DELETE', `${path}/tags`, undefined, token)).status).toBe(status)
    }
    expect((await ask('GET', `floatingips/${id}/tags`, undefined, reader)).status).toBe(200)
    expect((await ask('GET', `floatingips/${id}/tags`, undefined, stranger)).status).toBe(404)
    expect((await ask('GET', `floatingips/${portId}/tags`)).status).toBe(404)
  })
})

test('what a tenant wrote on an address goes when it is released', async () => {
  const { body } = await ask('POST', 'floatingips', {
    floatingip: { floating_network_id: poolId, floating_ip_address: '192.0.2.40', description: 'secret' },
  })
  await ask('PUT', `floatingips/${body.floatingip.id}/tags`, { tags: ['secret'] })
  await ask('DELETE', `floatingips/${body.floatingip.id}`)
  const resting = bed.view.list('address').find(({ address }) => address === '192.0.2.40')
  expect(resting).toMatchObject({ description: '', tags: [], quarantineUntil: expect.any(String) })
})

test('a port is renamed, described and tagged', async () => {
  const { body } = await ask('PUT', `ports/${portId}`, { port: { name: 'vip', description: 'of a load balancer' } })
  expect(body.port).toMatchObject({ id: portId, name: 'vip', description: 'of a load balancer' })
  expect((await ask('PUT', `ports/${portId}/tags`, { tags: ['x'] })).body).toEqual({ tags: ['x'] })
  expect((await ask('GET', `ports/${portId}`)).body.port).toMatchObject({ name: 'vip', tags: ['x'] })
})

describe('the ports that a client looks for', () => {
  const found = async (query: string): Promise<readonly string[]> =>
    (await ask('GET', `ports?${query}`)).body.ports.map(({ id }: { id: string }) => id)

  test('by device: those of load balancers, never of instances', async () => {
    expect(await found('device_id=3f1c0d0e-9d3b-4a53-8f0e-6f8a3f6f0c11')).toEqual([])
    expect(await found(`device_id=lb-${loadBalancerId}`)).toEqual([portId])
    expect((await ask('GET', `ports?device_id=lb-${loadBalancerId}`)).body.ports).toMatchObject([
      { device_owner: 'Octavia' },
    ])
  })

  test('by fixed addresses: any of several addresses, in any of several subnets', async () => {
    const { subnet_id: subnet, ip_address: address } = (await ask('GET', `ports/${portId}`)).body.port.fixed_ips[0]
    const cases: readonly (readonly [string, readonly string[]])[] = [
      [`fixed_ips=ip_address=${address}`, [portId]],
      ['fixed_ips=ip_address=10.0.0.250', []],
      [`fixed_ips=ip_address=10.0.0.250&fixed_ips=ip_address=${address}`, [portId]],
      [`fixed_ips=subnet_id=${subnet}&fixed_ips=ip_address=${address}`, [portId]],
      [`fixed_ips=subnet_id=${poolId}&fixed_ips=ip_address=${address}`, []],
      [`fixed_ips=ip_address_substr=${address.slice(0, -1)}&fixed_ips=subnet_id=${subnet}`, [portId]],
      ['fixed_ips=ip_address_substr=172.', []],
    ]
    for (const [query, ids] of cases) expect([query, await found(query)]).toEqual([query, ids])
  })

  test('not by what a fixed address does not have', async () => {
    for (const query of ['fixed_ips=color=red', 'fixed_ips=10.0.0.2']) {
      const { status, body } = await ask('GET', `ports?${query}`)
      expect([status, body.NeutronError.message]).toEqual([400, expect.stringContaining('fixed_ips')])
    }
  })
})
