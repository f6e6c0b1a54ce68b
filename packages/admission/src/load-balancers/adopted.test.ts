import { randomUUID } from 'node:crypto'
import type { LoadBalancer, LocalLoadBalancer } from '@spout/model'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { draftOf, memberOf, type Office, openOffice, poolOf, refusal } from '../testing/office.ts'

let office: Office
let nodeGroupId: string

/** The first address of the pool. */
const ADDRESS = '192.0.2.10'
const MASTERS = ['192.0.2.3', '192.0.2.4']
const check = { type: 'https', path: '/readyz', intervalMs: 250, timeoutMs: 1000, rise: 2, fall: 2 } as const

const apiServer = (fields: Partial<LocalLoadBalancer> = {}): LocalLoadBalancer => ({
  ...{ name: 'api-server', address: ADDRESS, port: 6443, check },
  members: MASTERS.map((address) => ({ address, port: 6443 })),
  ...fields,
})

const adopt = (fields: Partial<LocalLoadBalancer> = {}, group = nodeGroupId): Promise<void> =>
  office.admission.adoptLoadBalancer({
    ...{ projectId: office.project.id, nodeGroupId: group, loadBalancer: apiServer(fields) },
  })

const adopted = (): LoadBalancer | undefined =>
  office.view.list('loadBalancer').find(({ localName }) => localName === 'api-server')

const create = (address: string | null = null): Promise<LoadBalancer> =>
  office.admission.createLoadBalancer(draftOf(office.stranger.id, [{ from: 'pool', poolId: office.pool.id, address }]))

beforeEach(async () => {
  office = await openOffice()
  nodeGroupId = (await office.admission.createNodeGroup({ name: 'masters' })).id
  await seeNode('master1', MASTERS[0]!)
})
afterEach(() => office.close())

async function seeNode(nodeName: string, address: string): Promise<void> {
  const { secret } = await office.admission.createEnrolmentToken({ nodeName, nodeGroupId, ttlSeconds: 600 })
  const { id } = await office.admission.enrolNode(secret, async () => 'a'.repeat(64))
  await office.admission.seeFabricAddress(id, address)
}

it('is shown as the settings have it, without a network that a plan could send to nodes', async () => {
  await adopt()
  expect(adopted()).toMatchObject({
    ...{ name: 'api-server', localName: 'api-server', projectId: office.project.id, nodeGroupId, networkId: null },
    ...{ generation: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null },
    vips: [{ address: ADDRESS, scope: 'fabric', poolId: null }],
    listeners: [{ protocol: 'tcp', port: 6443 }],
    pools: [{ members: MASTERS.map((address) => ({ address, port: 6443 })), monitor: { http: { path: '/readyz' } } }],
  })
})

it('is written again only when the settings change, and a member that stays keeps its id', async () => {
  await adopt()
  const first = adopted()
  const revision = await office.store.revision()
  office.later(1000)
  await adopt()
  expect(await office.store.revision()).toBe(revision)
  await adopt({ members: [...MASTERS.slice(1), '192.0.2.5'].map((address) => ({ address, port: 6443 })) })
  expect(adopted()).toMatchObject({ generation: 2, createdAt: first?.createdAt, updatedAt: '2026-01-01T00:00:01.000Z' })
  expect(adopted()?.pools[0]?.members[0]).toEqual(first?.pools[0]?.members[1])
  expect([adopted()?.id, adopted()?.listeners]).toEqual([first?.id, first?.listeners])
})

it('keeps its address out of pools, by name and by turn, until it is abandoned', async () => {
  await adopt()
  expect((await create()).vips[0]?.address).toBe('192.0.2.11')
  expect(await refusal(create(ADDRESS))).toMatchObject({ code: 'AddressTaken', field: 'vips[0].address' })
  await office.admission.abandonLoadBalancer(adopted()!.id)
  expect(adopted()).toBeUndefined()
  expect((await create()).vips[0]?.address).toBe(ADDRESS)
})

it('takes no address of somebody else, also not of a request under way', async () => {
  const taken = { code: 'AddressTaken', field: 'local.loadBalancers.api-server.address' }
  const [theirs, ours] = await Promise.all([create(ADDRESS), refusal(adopt())])
  expect(ours).toMatchObject(taken)
  expect(adopted()).toBeUndefined()
  expect(theirs.vips[0]?.address).toBe(ADDRESS)
  const [given] = await Promise.all([adopt({ address: '192.0.2.11' }).then(adopted), create()])
  expect(given?.vips[0]?.address).toBe('192.0.2.11')
  expect(office.view.list('loadBalancer').filter(({ vips }) => vips[0]?.address === '192.0.2.11')).toHaveLength(1)
  await seeNode('master2', MASTERS[1]!)
  expect(await refusal(adopt({ address: MASTERS[1]! }))).toMatchObject(taken)
  const other = (await office.admission.createNodeGroup({ name: 'others' })).id
  expect(await refusal(adopt({ address: '192.0.2.11' }, other))).toMatchObject(taken)
})

it('takes none outside of the networks of nodes: a compromised node would take it from tenants', async () => {
  for (const address of ['10.0.0.9', '127.0.0.1']) {
    const refused = await refusal(adopt({ address }))
    expect(refused).toMatchObject({ code: 'AddressForbidden', field: 'local.loadBalancers.api-server.address' })
  }
  const pools = [poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.9')])]
  const vips = [{ from: 'pool', poolId: office.pool.id, address: null }] as const
  await office.admission.createLoadBalancer({ ...draftOf(office.project.id, [...vips]), pools })
})

it('can be no member of a tenant', async () => {
  await adopt()
  const pools = [poolOf(randomUUID(), [memberOf(randomUUID(), ADDRESS, 6443)])]
  const vips = [{ from: 'pool', poolId: office.pool.id, address: null }] as const
  const draft = { ...draftOf(office.project.id, [...vips]), pools }
  expect(await refusal(office.admission.createLoadBalancer(draft))).toMatchObject({ code: 'AddressForbidden' })
})

it('is changed and deleted by its settings alone', async () => {
  await adopt()
  const { id } = adopted()!
  const { admission } = office
  for (const attempt of [
    admission.changeLoadBalancer(id, () => ({ enabled: false })),
    admission.changeMembers(id, (current) => ({ poolId: current.pools[0]!.id, remove: [] }) as never),
    admission.deleteLoadBalancer(id, { cascade: true }),
    admission.addVip(id, { from: 'pool', poolId: office.pool.id, address: null }),
  ])
    expect((await refusal(attempt)).message).toBe(
      'Load balancer api-server is in use by the settings of its nodes, local.loadBalancers.api-server: change it there',
    )
  expect(adopted()?.enabled).toBe(true)
})

it('abandons none but these', async () => {
  const { id } = await create()
  await office.admission.abandonLoadBalancer(id)
  await office.admission.abandonLoadBalancer(randomUUID())
  expect(office.view.get('loadBalancer', id)).not.toBeNull()
})
