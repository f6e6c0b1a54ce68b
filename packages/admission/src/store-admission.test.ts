import { randomUUID } from 'node:crypto'
import { KINDS, type LoadBalancer, type Pool, SpoutError } from '@spout/model'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { VipRequest } from './contract/load-balancer-admission.ts'
import { AdmissionIndex } from './indexes/admission-index.ts'
import { MOST } from './load-balancers/load-balancer-draft.ts'
import { StoreAdmission } from './store-admission.ts'
import {
  draftOf,
  listenerOf,
  memberOf,
  networkDraft,
  type Office,
  openOffice,
  poolOf,
  subnetDraft,
} from './testing/office.ts'
import { StoreView } from './view/store-view.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const fromPool = (address: string | null = null): VipRequest => ({ from: 'pool', poolId: office.pool.id, address })
const fromSubnet = (address: string | null = null): VipRequest => ({
  from: 'subnet',
  networkId: office.network.id,
  subnetId: office.subnet.id,
  address,
})
const create = (vips: readonly VipRequest[] = [fromPool()], fields: Parameters<typeof draftOf>[2] = {}) =>
  office.admission.createLoadBalancer(draftOf(office.project.id, vips, fields))
const withMembers = (count: number): Pool =>
  poolOf(
    randomUUID(),
    Array.from({ length: count }, (_, index) => memberOf(randomUUID(), '10.0.0.5', 1000 + index)),
  )
const reserve = (use: 'port' | 'floating', request: VipRequest = fromPool()) =>
  office.admission.reserveAddress(office.project.id, request, use, { name: use, description: '' })
const addressesOf = ({ vips }: LoadBalancer): string[] => vips.map(({ address }) => address)

async function settled<T>(
  work: readonly Promise<T>[],
): Promise<{ readonly granted: T[]; readonly refused: SpoutError[] }> {
  const results = await Promise.allSettled(work)
  const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  for (const error of refused) if (!(error instanceof SpoutError)) throw error
  return {
    granted: results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    refused: refused as SpoutError[],
  }
}

describe('creating', () => {
  it('takes the lowest free address of a pool and of a subnet', async () => {
    const loadBalancer = await create([fromPool(), fromSubnet()])
    expect(addressesOf(loadBalancer)).toEqual(['192.0.2.10', '10.0.0.2'])
    expect(loadBalancer).toMatchObject({ generation: 1, networkId: office.network.id })
    expect(office.view.get('loadBalancer', loadBalancer.id)?.value).toEqual(loadBalancer)
    expect(office.admission.quotaOf(office.project.id).used).toMatchObject({ loadBalancers: 1, addresses: 2 })
  })
  it('hands what it made to the view, without a copy', async () => {
    const loadBalancer = await create([fromPool(), fromSubnet()], { pools: [withMembers(2)] })
    expect(office.view.get('loadBalancer', loadBalancer.id)?.value).toBe(loadBalancer)
  })
  it('stores objects that fit the schemas of their kinds', async () => {
    await create([fromPool(), fromSubnet()], { pools: [withMembers(2)], listeners: [listenerOf(randomUUID(), 80)] })
    await office.admission.setQuota(office.project.id, { members: 7 })
    for (const kind of ['loadBalancer', 'address', 'network', 'project', 'addressPool', 'quota'] as const)
      for (const value of office.view.list(kind)) expect(KINDS[kind].parse(value)).toEqual(value)
  })
  it("takes no member's address for a VIP", async () => {
    const members = ['10.0.0.2', '10.0.0.3'].map((address) => memberOf(randomUUID(), address))
    await create([fromPool()], { pools: [poolOf(randomUUID(), members)] })
    expect(addressesOf(await create([fromSubnet()]))).toEqual(['10.0.0.4'])
    await expect(create([fromSubnet('10.0.0.3')])).rejects.toMatchObject({ code: 'AddressTaken' })
  })
  it('enforces the limits of the model', () => {
    const limit = (count: number, key: 'listeners' | 'pools'): boolean =>
      KINDS.loadBalancer.shape[key].safeParse(Array(count)).error?.issues.some(({ code }) => code === 'too_big') ??
      false
    for (const key of ['listeners', 'pools'] as const)
      expect([limit(MOST[key], key), limit(MOST[key] + 1, key)]).toEqual([false, true])
  })
})

describe('changing', () => {
  it('makes a new generation for what nodes see, and none for texts', async () => {
    const { id } = await create()
    const renamed = await office.admission.changeLoadBalancer(id, () => ({ name: 'other', tags: ['a'] }))
    expect(renamed).toMatchObject({ name: 'other', generation: 1 })
    expect(renamed.updatedAt).not.toBeNull()
    const pools = [withMembers(1)]
    expect(await office.admission.changeLoadBalancer(id, () => ({ pools }))).toMatchObject({ generation: 2 })
    const revision = await office.store.revision()
    expect(await office.admission.changeLoadBalancer(id, () => ({ pools }))).toMatchObject({ generation: 2 })
    expect(await office.store.revision()).toBe(revision)
  })
  it('finds the network once there is a member', async () => {
    const other = await office.admission.createNetwork(networkDraft(office.project.id))
    await office.admission.addSubnet(other.id, subnetDraft('10.8.0.0/24', '10.8.0.1'))
    const { id, networkId } = await create()
    expect(networkId).toBeNull()
    const pools = [poolOf(randomUUID(), [memberOf(randomUUID(), '10.8.0.9')])]
    expect((await office.admission.changeLoadBalancer(id, () => ({ pools }))).networkId).toBe(other.id)
  })
  it('applies 200 concurrent changes one after another, with one of them refused', async () => {
    const { id } = await create([fromPool()], { pools: [poolOf(randomUUID(), [])] })
    const { granted, refused } = await settled(
      Array.from({ length: 200 }, (_, index) =>
        office.admission.changeLoadBalancer(id, ({ pools: [pool, ...rest] }) => ({
          pools: [{ ...pool!, members: [...pool!.members, memberOf(randomUUID(), '10.0.0.5', index)] }, ...rest],
        })),
      ),
    )
    expect(refused.map(({ field }) => field)).toEqual(['pools[0].members[0].port'])
    expect(granted.map(({ generation }) => generation)).toEqual(granted.map((_, index) => index + 2))
    const stored = office.view.get('loadBalancer', id)?.value
    expect(new Set(stored?.pools[0]?.members.map(({ port }) => port)).size).toBe(199)
    expect(office.admission.quotaOf(office.project.id).used.members).toBe(199)
  })
  it('retries when another process was faster', async () => {
    const { id } = await create()
    let runs = 0
    const changed = await office.admission.changeLoadBalancer(id, (current) => {
      runs++
      if (runs === 1)
        void office.store.commit([
          { op: 'put', kind: 'loadBalancer', id, scope: office.project.id, value: { ...current, name: 'theirs' } },
        ])
      return { description: `was ${current.name}` }
    })
    expect(changed).toMatchObject({ name: 'theirs', description: 'was theirs' })
    expect(runs).toBe(2)
  })
})

describe('under concurrency', () => {
  it('100 creates at once get 100 addresses', async () => {
    const { granted, refused } = await settled(Array.from({ length: 100 }, () => create([fromPool(), fromSubnet()])))
    expect(refused).toEqual([])
    expect(new Set(granted.flatMap(addressesOf)).size).toBe(200)
    expect(office.admission.quotaOf(office.project.id).used.addresses).toBe(200)
  })
  it('never exceeds the quota, and grants exactly what it allows', async () => {
    await office.admission.setQuota(office.project.id, { loadBalancers: 37, members: 50 })
    const { granted, refused } = await settled(Array.from({ length: 100 }, () => create()))
    expect(granted).toHaveLength(37)
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['OverQuota']))
    expect(office.view.list('loadBalancer')).toHaveLength(37)
    const bigger = await settled(
      granted.map(({ id }) => office.admission.changeLoadBalancer(id, () => ({ pools: [withMembers(3)] }))),
    )
    expect(bigger.granted).toHaveLength(16)
    expect(office.admission.quotaOf(office.project.id).used).toMatchObject({ loadBalancers: 37, members: 48 })
  })
  it('gives an address to one of many that ask for it', async () => {
    const { granted, refused } = await settled(Array.from({ length: 20 }, () => create([fromPool('192.0.2.77')])))
    expect(granted).toHaveLength(1)
    expect(new Set(refused.map(({ code, field }) => `${code} ${field}`))).toEqual(
      new Set(['AddressTaken vips[0].address']),
    )
    expect(office.admission.quotaOf(office.project.id).used).toMatchObject({ loadBalancers: 1, addresses: 1 })
  })
  it('gives networks unique numbers', async () => {
    const draft = networkDraft(office.project.id)
    const networks = await Promise.all(Array.from({ length: 15 }, () => office.admission.createNetwork(draft)))
    expect(new Set(networks.map(({ number }) => number)).size).toBe(15)
    await office.admission.deleteNetwork(networks[3]!.id)
    expect((await office.admission.createNetwork(draft)).number).toBe(networks[3]!.number)
  })
  it('gives a unique name once', async () => {
    const draft = { name: 'twice', description: '' }
    const { granted, refused } = await settled([1, 2, 3].map(() => office.admission.createProject(draft)))
    expect([granted.length, ...refused.map(({ code }) => code)]).toEqual([1, 'NameTaken', 'NameTaken'])
  })
  it('gives a node one address in a subnet', async () => {
    const { admission, store, network, subnet } = office
    const group = await admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' })
    const { secret } = await admission.createEnrolmentToken({ nodeName: 'n1', nodeGroupId: group.id, ttlSeconds: 60 })
    const node = await admission.enrolNode(secret, async () => 'a'.repeat(64))
    const { revision } = await store.commit([{ op: 'delete', kind: 'address', id: `${network.id}/10.0.0.254` }])
    await office.view.caughtUp(revision)
    await Promise.all([1, 2, 3].map(() => admission.ensureNodeAddresses()))
    expect(office.view.list('address').filter(({ use }) => use === 'node')).toHaveLength(1)
    expect(admission.nodeAddresses(network.id, node.id).get(subnet.id)).toBe('10.0.0.254')
  })
  it('shares addresses with another process on the same store', async () => {
    const ended = new AbortController()
    const view = await StoreView.open(office.store, { signal: ended.signal })
    const other = new StoreAdmission({ store: office.store, view })
    const request = draftOf(office.project.id, [fromPool()])
    const { granted, refused } = await settled(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? other : office.admission).createLoadBalancer(request),
      ),
    )
    expect(refused).toEqual([])
    expect(new Set(granted.flatMap(addressesOf)).size).toBe(40)
    ended.abort()
    other.close()
  })
})

describe('ports and floating IPs', () => {
  it('stay with their user when the load balancer is deleted', async () => {
    const port = await reserve('port')
    const loadBalancer = await create([{ from: 'port', portId: port.portId }])
    expect(loadBalancer.vips[0]).toMatchObject({ addressId: port.portId, address: port.address })
    await expect(office.admission.releaseAddress(port.portId)).rejects.toMatchObject({ code: 'InUse' })
    await expect(create([{ from: 'port', portId: port.portId }])).rejects.toMatchObject({ code: 'InUse' })
    await office.admission.deleteLoadBalancer(loadBalancer.id, { cascade: true })
    expect(office.view.addressByPort(port.portId)).toMatchObject({ ownerId: null, quarantineUntil: null })
    await office.admission.releaseAddress(port.portId)
    expect(office.view.addressByPort(port.portId)).toBeNull()
  })
  it('are VIPs while they are bound', async () => {
    const floating = await reserve('floating')
    const { id, vips } = await create([fromSubnet()])
    const bound = await office.admission.bindFloating(floating.portId, vips[0]!.addressId)
    expect(bound.ownerId).toBe(vips[0]!.addressId)
    expect(office.view.get('loadBalancer', id)?.value).toMatchObject({
      generation: 2,
      vips: [{ scope: 'tenant' }, { scope: 'fabric', addressId: floating.portId, address: floating.address }],
    })
    expect((await office.admission.bindFloating(floating.portId, null)).ownerId).toBeNull()
    expect(office.view.get('loadBalancer', id)?.value.vips).toHaveLength(1)
    await office.admission.bindFloating(floating.portId, vips[0]!.addressId)
    await office.admission.deleteLoadBalancer(id, { cascade: true })
    expect(office.view.addressByPort(floating.portId)).toMatchObject({ ownerId: null, quarantineUntil: null })
    await office.admission.releaseAddress(floating.portId)
  })
  it('move to another load balancer in one commit', async () => {
    const floating = await reserve('floating')
    const [from, to] = [await create([fromSubnet()]), await create([fromSubnet()])]
    const stored = ({ id }: LoadBalancer) => office.view.get('loadBalancer', id)!.value
    const portOf = ({ vips }: LoadBalancer) => vips[0]!.addressId
    await office.admission.bindFloating(floating.portId, portOf(from))
    const seen: (readonly [number, number])[] = []
    const end = office.view.onChange(() => seen.push([stored(from).vips.length, stored(to).vips.length]))
    expect((await office.admission.bindFloating(floating.portId, portOf(to))).ownerId).toBe(portOf(to))
    end()
    expect(seen).toEqual([[1, 2]])
    expect(stored(to).vips[1]).toMatchObject({ addressId: floating.portId })

    const full = await create(Array.from({ length: 16 }, () => fromPool()))
    await expect(office.admission.bindFloating(floating.portId, portOf(full))).rejects.toMatchObject({
      code: 'InvalidField',
    })
    expect([stored(to), stored(full)].map(({ vips }) => vips.length)).toEqual([2, 16])
    expect(office.view.addressByPort(floating.portId)?.ownerId).toBe(portOf(to))
  })
  it('follow a port into its load balancer', async () => {
    const [floating, port] = [await reserve('floating'), await reserve('port', fromSubnet())]
    await office.admission.bindFloating(floating.portId, port.portId)
    const loadBalancer = await create([{ from: 'port', portId: port.portId }])
    expect(addressesOf(loadBalancer)).toEqual([port.address, floating.address])
    await office.admission.releaseAddress(floating.portId)
    expect(office.view.get('loadBalancer', loadBalancer.id)?.value.vips).toHaveLength(1)
  })
  it('of another project cannot be bound', async () => {
    const floating = await reserve('floating')
    const theirs = await office.admission.reserveAddress(office.stranger.id, fromPool(), 'port', {
      name: '',
      description: '',
    })
    await expect(office.admission.bindFloating(floating.portId, theirs.portId)).rejects.toMatchObject({
      code: 'ReferenceNotFound',
      field: 'targetPortId',
    })
  })
})

describe('quarantine', () => {
  it('keeps a released address for its project alone', async () => {
    const { id, vips } = await create()
    await office.admission.deleteLoadBalancer(id, { cascade: true })
    expect(office.admission.quotaOf(office.project.id).used.addresses).toBe(0)
    expect(office.view.addressByPort(vips[0]!.addressId)).toBeNull()
    const next = await office.admission.createLoadBalancer(draftOf(office.stranger.id, [fromPool()]))
    expect(addressesOf(next)).toEqual(['192.0.2.11'])
    expect(addressesOf(await create([fromPool('192.0.2.10')]))).toEqual(['192.0.2.10'])
  })
  it('ends', async () => {
    const { id } = await create()
    await office.admission.deleteLoadBalancer(id, { cascade: true })
    office.later(59_999)
    expect(addressesOf(await create())).toEqual(['192.0.2.11'])
    office.later(1)
    expect(addressesOf(await create())).toEqual(['192.0.2.10'])
  })
})

describe('nodes', () => {
  const enrol = async (nodeName: string, nodeGroupId: string) => {
    const { secret } = await office.admission.createEnrolmentToken({ nodeName, nodeGroupId, ttlSeconds: 60 })
    return { secret, node: await office.admission.enrolNode(secret, async () => 'a'.repeat(64)) }
  }
  it('are enrolled once per token and get an address in every subnet', async () => {
    const { admission, network, subnet } = office
    const group = await admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' })
    const { secret, node } = await enrol('n1', group.id)
    await expect(admission.enrolNode(secret, async () => 'b'.repeat(64))).rejects.toMatchObject({
      code: 'Unauthenticated',
    })
    expect((await enrol('n1', group.id)).node.id).toBe(node.id)
    office.later(1)
    const second = (await enrol('n2', group.id)).node
    expect(admission.nodeAddresses(network.id, node.id)).toEqual(new Map([[subnet.id, '10.0.0.254']]))
    expect(admission.nodeAddresses(network.id, second.id)).toEqual(new Map([[subnet.id, '10.0.0.253']]))
    const ranged = await admission.addSubnet(network.id, {
      ...subnetDraft('10.1.0.0/24', '10.1.0.1'),
      nodeRange: { first: '10.1.0.10', last: '10.1.0.10' },
    })
    expect([node, second].map(({ id }) => admission.nodeAddresses(network.id, id).get(ranged.id))).toEqual([
      '10.1.0.10',
      undefined,
    ])
    const revision = await office.store.revision()
    await admission.ensureNodeAddresses()
    expect(await office.store.revision()).toBe(revision)
    await admission.deleteNode(node.id)
    await admission.ensureNodeAddresses()
    expect(admission.nodeAddresses(network.id, second.id).get(ranged.id)).toBe('10.1.0.10')
  })
  it('are enrolled by a valid token only', async () => {
    const group = await office.admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' })
    const { secret } = await office.admission.createEnrolmentToken({
      nodeName: 'n1',
      nodeGroupId: group.id,
      ttlSeconds: 60,
    })
    office.later(60_000)
    await expect(office.admission.enrolNode(secret, async () => 'a'.repeat(64))).rejects.toMatchObject({
      code: 'TokenExpired',
    })
    await expect(office.admission.enrolNode('wrong', async () => 'a'.repeat(64))).rejects.toMatchObject({
      code: 'Unauthenticated',
    })
    expect(office.view.list('node')).toEqual([])
  })
  it('used concurrently, a token enrols one node', async () => {
    const group = await office.admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' })
    const { secret } = await office.admission.createEnrolmentToken({
      nodeName: 'n1',
      nodeGroupId: group.id,
      ttlSeconds: 60,
    })
    const { granted } = await settled(
      [1, 2, 3].map(() => office.admission.enrolNode(secret, async () => 'a'.repeat(64))),
    )
    expect(granted).toHaveLength(1)
    expect(office.view.list('node')).toHaveLength(1)
  })
})

describe('after a restart', () => {
  it('the index is rebuilt as it was', async () => {
    await Promise.all(Array.from({ length: 10 }, () => create([fromPool(), fromSubnet()], { pools: [withMembers(2)] })))
    await office.admission.deleteLoadBalancer(office.view.list('loadBalancer')[4]!.id, { cascade: true })
    const ended = new AbortController()
    const view = await StoreView.open(office.store, { signal: ended.signal })
    const index = new AdmissionIndex(view)
    expect(index.usage(office.project.id)).toEqual(office.admission.quotaOf(office.project.id).used)
    expect(index.addressesOf(office.pool.id)).toHaveLength(10)
    index.close()
    ended.abort()
  })
})

describe('segments', () => {
  it('belong to one project, even with concurrent requests', async () => {
    const office = await openOffice()
    const segment = { physicalNetwork: 'physnet9', vlan: 7 }
    const ask = (projectId: string) => office.admission.createNetwork({ ...networkDraft(projectId), segment })
    const results = await Promise.allSettled([ask(office.project.id), ask(office.stranger.id), ask(office.project.id)])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    await expect(ask(office.stranger.id)).rejects.toThrow(
      'Field segment: VLAN 7 of physnet9 carries a network of another project',
    )
    await office.close()
  })

  it('belong to nobody where nothing is carried', async () => {
    const office = await openOffice({ references: 'any' })
    const segment = { physicalNetwork: 'physnet9', vlan: null }
    const ask = (projectId: string) => office.admission.createNetwork({ ...networkDraft(projectId), segment })
    for (const { id } of [office.project, office.stranger])
      expect(await ask(id)).toMatchObject({ projectId: id, segment })
    await office.close()
  })
})
