import type { NodeGroup, ShardStatus } from '@spout/model'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { combinedId } from '../terms/amphora-id.ts'
import { id, nodeOf, statusOf } from '../testing/fixtures.ts'
import { TestService } from '../testing/service.ts'

const AMPHORAE = '/v2/octavia/amphorae'
const [N1, N2, N3] = [1, 2, 3].map((number) => id('node', number)) as [string, string, string]

type Shown = Readonly<Record<string, unknown>> & { readonly id: string }

async function listed(service: TestService, query = ''): Promise<readonly Shown[]> {
  const { status, body } = await service.call('GET', `${AMPHORAE}${query}`, undefined, 'admin')
  expect(status).toBe(200)
  return (body as { amphorae: Shown[] }).amphorae
}

const admin = (service: TestService, method: 'GET' | 'PUT' | 'DELETE', path: string) =>
  service.call(method, path, undefined, 'admin')

/** A load balancer as its nodes report it: the first one carries it. */
async function carried(service: TestService, fields: object = {}) {
  const lb = await service.make('/loadbalancers', 'loadbalancer', { vip_subnet_id: service.ids.subnet, ...fields })
  const confirmed = { connection: 'connected', state: 'programmed', message: null } as const
  const nodes = [
    { ...confirmed, nodeId: N1, nodeName: 'n1', announced: [String(lb['vip_address'])] },
    { ...confirmed, nodeId: N2, nodeName: 'n2', announced: [] },
  ]
  service.status.set(lb.id, statusOf({ ownerNodeId: N1, nodes }))
  return lb
}

const leftNodeOf = (service: TestService, lbId: string) => service.view.get('loadBalancer', lbId)?.value.leftNodeId

test('of the ids of an amphora, its load balancer and its node, two say the third', () => {
  fc.assert(
    fc.property(fc.uuid(), fc.uuid(), (a, b) => {
      expect(combinedId(combinedId(a, b), b)).toBe(a)
      expect(combinedId(a, b)).toBe(combinedId(b, a))
    }),
  )
})

describe('in a group of shards', () => {
  let service: TestService
  let group: NodeGroup
  beforeAll(async () => {
    service = await TestService.start()
    group = await service.admission.createNodeGroup({ name: 'default', vrrp: { shards: 2 } })
    for (const [nodeId, name] of [
      [N1, 'n1'],
      [N2, 'n2'],
      [N3, 'n3'],
    ] as const)
      await service.put('node', nodeOf(nodeId, name, group.id))
  })
  afterAll(() => service.stop())
  beforeEach(() => {
    for (const nodeId of [N1, N2]) service.status.connected.add(nodeId)
    service.status.shardsOf.set(group.id, [shard(1, N1), shard(2, N2)])
  })

  const shard = (number: number, owner: string): ShardStatus => ({
    ...{ nodeGroupId: group.id, number, ownerNodeId: owner, state: 'settled', masterNodeIds: [owner] },
    nodes: [N1, N2].map((nodeId) => ({ nodeId, state: nodeId === owner ? 'master' : 'backup', since: '' })),
  })
  const place = (lbId: string, number = 1) =>
    service.put('placement', {
      ...{ id: lbId, name: '', description: '', createdAt: '2026-03-01T12:00:00.000Z', updatedAt: null },
      ...{ networkId: service.ids.network, ownerNodeId: null, pools: [] },
      shard: { nodeGroupId: group.id, number },
      reason: { code: 'Placed', message: '' },
    })

  test('an amphora is shown for each node that has the load balancer', async () => {
    const lb = await carried(service)
    await place(lb.id, 2)
    const [master, backup, ...others] = await listed(service, `?loadbalancer_id=${lb.id}&sort=role:desc`)
    expect(others).toEqual([])
    expect(master).toEqual({
      id: combinedId(lb.id, N1),
      loadbalancer_id: lb.id,
      compute_id: N1,
      lb_network_ip: '192.0.2.1',
      vrrp_ip: '192.0.2.1',
      ha_ip: lb['vip_address'],
      vrrp_port_id: null,
      ha_port_id: lb['vip_port_id'],
      cert_expiration: null,
      cert_busy: false,
      role: 'MASTER',
      status: 'ALLOCATED',
      vrrp_interface: null,
      vrrp_id: group.vrrp.routerIds[1],
      vrrp_priority: null,
      cached_zone: null,
      created_at: lb['created_at'],
      updated_at: lb['created_at'],
      image_id: null,
      compute_flavor: null,
    })
    expect(backup).toMatchObject({ compute_id: N2, role: 'BACKUP', lb_network_ip: '192.0.2.2' })
    const { body } = await admin(service, 'GET', `${AMPHORAE}/${master!.id}?fields=id&fields=role`)
    expect(body).toEqual({ amphora: { id: master!.id, role: 'MASTER' } })
  })

  test('lists are filtered and come in pages', async () => {
    const [one, two] = [await carried(service), await carried(service)]
    const both = [one.id, two.id]
    const all = await listed(service, `?compute_id=${N1}&role=MASTER`)
    expect(all.map(({ loadbalancer_id: lbId }) => lbId)).toEqual(expect.arrayContaining(both))
    expect(all.every(({ compute_id: nodeId }) => nodeId === N1)).toBe(true)
    const { body } = await admin(service, 'GET', `${AMPHORAE}?loadbalancer_id=${one.id}&limit=1`)
    const page = body as { amphorae: Shown[]; amphorae_links: { rel: string; href: string }[] }
    expect([page.amphorae.length, page.amphorae_links.map(({ rel }) => rel)]).toEqual([1, ['next']])
    const rest = await listed(service, new URL(page.amphorae_links[0]!.href).search)
    expect(rest.map((each) => each.id)).not.toContain(page.amphorae[0]!.id)
    expect(rest).toHaveLength(1)
    await expect(admin(service, 'GET', `${AMPHORAE}?colour=red`)).resolves.toMatchObject({ status: 400 })
  })

  test.each([
    ['ERROR', { state: 'failed', message: 'No space left' }],
    ['ERROR', { connection: 'disconnected' }],
    ['ALLOCATED', { state: 'waiting' }],
    ['PENDING_CREATE', { state: 'waiting', nodeId: N3 }],
  ] as const)('its status is %s with %j', async (status, fields) => {
    const lb = await carried(service)
    const [first] = service.status.loadBalancer(lb.id).nodes
    service.status.set(lb.id, statusOf({ nodes: [{ ...first!, ...fields }] }))
    await expect(listed(service, `?loadbalancer_id=${lb.id}`)).resolves.toMatchObject([{ status, role: 'STANDALONE' }])
  })

  test('statistics are what the node counted, by listener', async () => {
    const lb = await carried(service)
    const amphora = combinedId(lb.id, N1)
    const none = await admin(service, 'GET', `${AMPHORAE}/${amphora}/stats`)
    expect(none).toMatchObject({ status: 404, body: { faultstring: `Amphora stats for ${amphora} not found.` } })
    const front = { loadbalancer_id: lb.id, protocol: 'TCP' }
    const [quiet, busy] = [
      await service.make('/listeners', 'listener', { ...front, protocol_port: 80 }),
      await service.make('/listeners', 'listener', { ...front, protocol_port: 81 }),
    ]
    const counted = { bytesIn: 5, bytesOut: 7, activeConnections: 1, totalConnections: 3, requestErrors: 2 }
    const stats = { loadBalancerId: lb.id, listenerId: busy.id, ...counted }
    service.status.statsOf.set(N1, new Map([[busy.id, stats]]))
    const shown = (listenerId: string, [bytesIn, bytesOut, active, total, errors]: readonly number[]) => ({
      ...{ id: amphora, listener_id: listenerId, loadbalancer_id: lb.id, bytes_in: bytesIn, bytes_out: bytesOut },
      ...{ active_connections: active, total_connections: total, request_errors: errors },
    })
    await expect(admin(service, 'GET', `${AMPHORAE}/${amphora}/stats`)).resolves.toMatchObject({
      status: 200,
      body: { amphora_stats: [shown(quiet.id, [0, 0, 0, 0, 0]), shown(busy.id, [5, 7, 1, 3, 2])] },
    })
  })

  test('a failover moves the shard to another node, and the load balancer has left the first', async () => {
    const lb = await carried(service)
    await place(lb.id)
    await expect(admin(service, 'PUT', `/loadbalancers/${lb.id}/failover`)).resolves.toMatchObject({
      status: 202,
      body: undefined,
    })
    const moves = () => service.view.get('nodeGroup', group.id)?.value.rebalance?.moves
    expect(moves()).toEqual([{ shard: 1, fromNodeId: N1, toNodeId: N2 }])
    expect(leftNodeOf(service, lb.id)).toBe(N1)
    const pending = await service.call('GET', `/loadbalancers/${lb.id}`)
    expect(pending.body).toMatchObject({ loadbalancer: { provisioning_status: 'PENDING_UPDATE' } })
    // The move of another shard comes before those that are under way.
    const other = await carried(service)
    await place(other.id, 2)
    service.status.set(other.id, { ...service.status.loadBalancer(other.id), ownerNodeId: N2 })
    await expect(admin(service, 'PUT', `/loadbalancers/${other.id}/failover`)).resolves.toMatchObject({ status: 202 })
    expect(moves()).toEqual([
      { shard: 2, fromNodeId: N2, toNodeId: N1 },
      { shard: 1, fromNodeId: N1, toNodeId: N2 },
    ])
  })

  test('a failover of one amphora moves nothing unless its node carries the load balancer', async () => {
    const lb = await carried(service)
    await place(lb.id)
    const failOver = (nodeId: string) => admin(service, 'PUT', `${AMPHORAE}/${combinedId(lb.id, nodeId)}/failover`)
    await expect(failOver(N2)).resolves.toMatchObject({ status: 202 })
    expect(leftNodeOf(service, lb.id)).toBeUndefined()
    await expect(failOver(N1)).resolves.toMatchObject({ status: 202 })
    expect(leftNodeOf(service, lb.id)).toBe(N1)
  })

  test('without another node that can take it, a failover is refused with the reason', async () => {
    const lb = await carried(service)
    await place(lb.id)
    service.status.connected.delete(N2)
    await expect(admin(service, 'PUT', `/loadbalancers/${lb.id}/failover`)).resolves.toMatchObject({
      status: 503,
      body: { faultstring: 'Another node is not available: no other node of group `default` can take it now' },
    })
    expect(leftNodeOf(service, lb.id)).toBeUndefined()
  })

  test('where every node announces it, there is none to leave', async () => {
    const lb = await carried(service)
    service.status.set(lb.id, { ...service.status.loadBalancer(lb.id), ownerNodeId: null })
    await expect(listed(service, `?loadbalancer_id=${lb.id}&role=MASTER`)).resolves.toHaveLength(1)
    await expect(admin(service, 'PUT', `/loadbalancers/${lb.id}/failover`)).resolves.toMatchObject({
      status: 501,
      body: { faultstring: expect.stringContaining('every node of its group announces it') },
    })
  })

  test('configuration is always up to date, and what is in use is not deleted', async () => {
    const lb = await carried(service)
    const amphora = combinedId(lb.id, N1)
    await expect(admin(service, 'PUT', `${AMPHORAE}/${amphora}/config`)).resolves.toMatchObject({
      status: 202,
      body: undefined,
    })
    await expect(admin(service, 'DELETE', `${AMPHORAE}/${amphora}`)).resolves.toMatchObject({
      status: 409,
      body: { faultstring: `Amphora ${amphora} is immutable and cannot be updated.` },
    })
    await expect(listed(service, `?id=${amphora}`)).resolves.toHaveLength(1)
  })

  test.each(['', '/stats', '/config', '/failover'])('an unknown one is 404: %s', async (below) => {
    const lb = await carried(service)
    // The id for a node that does not have it, the id of no amphora, and a text that is no id.
    for (const amphora of [combinedId(lb.id, N3), id('amph'), 'none']) {
      const method = below === '' || below === '/stats' ? 'GET' : 'PUT'
      await expect(admin(service, method, `${AMPHORAE}/${amphora}${below}`)).resolves.toMatchObject({
        status: 404,
        body: { faultstring: `Amphora ${amphora} not found.` },
      })
    }
  })
})

describe('where one node is chosen', () => {
  let service: TestService
  beforeAll(async () => {
    service = await TestService.start()
    const group = await service.admission.createNodeGroup({ name: 'default', announcer: 'l2' })
    await service.put('node', nodeOf(N1, 'n1', group.id))
    await service.put('node', nodeOf(N2, 'n2', group.id))
    for (const nodeId of [N1, N2]) service.status.connected.add(nodeId)
  })
  afterAll(() => service.stop())

  const place = (lbId: string) =>
    service.put('placement', {
      ...{ id: lbId, name: '', description: '', createdAt: '2026-03-01T12:00:00.000Z', updatedAt: null },
      ...{ networkId: service.ids.network, ownerNodeId: N1, shard: null, pools: [] },
      reason: { code: 'Placed', message: '' },
    })

  test.each([
    ['snat', false],
    ['gateway', true],
  ] as const)('a failover with return path %s takes its neighbours along: %s', async (returnPath, isShared) => {
    const network = service.view.get('network', service.ids.network)!.value
    await service.put('network', { ...network, returnPath })
    const [lb, neighbour] = [await carried(service), await carried(service)]
    for (const one of [lb, neighbour]) await place(one.id)
    await expect(admin(service, 'PUT', `/loadbalancers/${lb.id}/failover`)).resolves.toMatchObject({ status: 202 })
    expect(leftNodeOf(service, lb.id)).toBe(N1)
    expect(leftNodeOf(service, neighbour.id)).toBe(isShared ? N1 : undefined)
    await expect(listed(service, `?loadbalancer_id=${lb.id}`)).resolves.toMatchObject([
      { vrrp_ip: null, vrrp_id: null },
      { vrrp_ip: null, vrrp_id: null },
    ])
  })

  test('a failover is refused where no other node is connected', async () => {
    const lb = await carried(service)
    await place(lb.id)
    service.status.connected.delete(N2)
    await expect(admin(service, 'PUT', `/loadbalancers/${lb.id}/failover`)).resolves.toMatchObject({ status: 503 })
  })
})

test('in noop mode a load balancer has one amphora, and each failover gives it another', async () => {
  const service = await TestService.start(undefined, undefined, true)
  service.status.otherwise = statusOf({ reason: 'NoNetwork', ownerNodeId: null })
  const lb = await service.make('/loadbalancers', 'loadbalancer', { vip_network_id: id('none') })
  const only = async () => {
    const [amphora, ...others] = await listed(service, `?loadbalancer_id=${lb.id}`)
    expect(others).toEqual([])
    expect(amphora).toMatchObject({ role: 'STANDALONE', status: 'ALLOCATED', ha_ip: lb['vip_address'] })
    expect(amphora!['vrrp_port_id']).toMatch(/^[0-9a-f]{8}-/)
    return amphora!.id
  }
  const first = await only()
  await expect(admin(service, 'PUT', `${AMPHORAE}/${first}/failover`)).resolves.toMatchObject({ status: 202 })
  const second = await only()
  expect(second).not.toBe(first)
  await expect(admin(service, 'GET', `${AMPHORAE}/${first}`)).resolves.toMatchObject({ status: 404 })
  await expect(admin(service, 'PUT', `/loadbalancers/${lb.id}/failover`)).resolves.toMatchObject({ status: 202 })
  await expect(only()).resolves.not.toBe(second)
  const { body } = await service.call('GET', `/loadbalancers/${lb.id}`, undefined, 'member')
  expect(body).toMatchObject({ loadbalancer: { provisioning_status: 'ACTIVE' } })
  await service.stop()
})
