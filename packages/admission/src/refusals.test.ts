import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LoadBalancerDraft, VipRequest } from './contract/load-balancer-admission.ts'
import {
  draftOf,
  listenerOf,
  memberOf,
  monitorOf,
  networkDraft,
  type Office,
  openOffice,
  poolOf,
  refusal,
  subnetDraft,
} from './testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ managementCidrs: ['10.99.0.0/16'] })
})
afterEach(() => office.close())

describe('createLoadBalancer also refuses', () => {
  it('members of a pool with the same endpoint', async () => {
    const members = [memberOf(randomUUID(), '10.0.0.5'), memberOf(randomUUID(), '10.0.0.5')]
    const error = await refusal(create({ pools: [poolOf(randomUUID(), members)] }))
    expect(error).toMatchObject({ code: 'MemberTaken', params: { field: 'pools[0].members[1].port' } })
  })

  it('a listener and a pool that do not go together', async () => {
    const pool = poolOf(randomUUID(), [], { protocol: 'udp' })
    const listener = listenerOf(randomUUID(), 80, { defaultPoolId: pool.id })
    const error = await refusal(create({ pools: [pool], listeners: [listener] }))
    expect(error).toMatchObject({ code: 'InvalidField', params: { field: 'listeners[0].defaultPoolId' } })
  })

  it('one port twice over one transport, and not over three', async () => {
    const over = (protocol: 'tcp' | 'udp' | 'sctp') => listenerOf(randomUUID(), 3868, { protocol })
    expect((await create({ listeners: [over('tcp'), over('udp'), over('sctp')] })).listeners).toHaveLength(3)
    const error = await refusal(create({ listeners: [over('sctp'), over('udp'), over('sctp')] }))
    expect(error).toMatchObject({ code: 'PortTaken', params: { field: 'listeners[2].port', protocol: 'sctp' } })
  })

  it('a pool with listeners of two modes', async () => {
    const pool = poolOf(randomUUID(), [])
    const listeners = [
      listenerOf(randomUUID(), 80, { defaultPoolId: pool.id }),
      listenerOf(randomUUID(), 81, { defaultPoolId: pool.id, protocol: 'tcp-proxy' }),
    ]
    const error = await refusal(create({ pools: [pool], listeners }))
    expect(error).toMatchObject({ code: 'Unsupported', params: { field: 'listeners[1].defaultPoolId' } })
  })

  it('ids of another load balancer, or named twice', async () => {
    const listener = listenerOf(randomUUID(), 80)
    await create({ listeners: [listener] })
    expect((await refusal(create({ listeners: [listener] }))).field).toBe('listeners[0].id')
    const twice = randomUUID()
    const error = await refusal(create({ listeners: [listenerOf(twice, 80), listenerOf(twice, 81)] }))
    expect(error.field).toBe('listeners[1].id')
  })

  it('an address that is in use, or in quarantine after another project', async () => {
    const mine = await create({})
    const address = mine.vips[0]!.address
    const request = (projectId: string): Promise<unknown> =>
      office.admission.createLoadBalancer(draftOf(projectId, [{ ...fromPool(), address }]))
    expect(await refusal(request(office.stranger.id))).toMatchObject({ code: 'AddressTaken', field: 'vips[0].address' })
    await office.admission.deleteLoadBalancer(mine.id, { cascade: false })
    expect(await refusal(request(office.stranger.id))).toMatchObject({ code: 'AddressTaken' })
    office.later(60_000)
    await request(office.stranger.id)
  })

  it("another project's network, port and pool, as if they did not exist", async () => {
    const { stranger, network, subnet, admission } = office
    const foreign: VipRequest = { from: 'subnet', networkId: network.id, subnetId: subnet.id, address: null }
    expect(await refusal(admission.createLoadBalancer(draftOf(stranger.id, [foreign])))).toMatchObject({
      code: 'ReferenceNotFound',
      field: 'vips[0].networkId',
    })
    const port = await admission.reserveAddress(office.project.id, fromPool(), 'port', { name: '', description: '' })
    const stolen: VipRequest = { from: 'port', portId: port.portId }
    expect(await refusal(admission.createLoadBalancer(draftOf(stranger.id, [stolen])))).toMatchObject({
      code: 'ReferenceNotFound',
      field: 'vips[0].portId',
    })
    const { id: _id, createdAt: _c, updatedAt: _u, ...open } = office.pool
    const closed = await admission.createAddressPool({
      ...open,
      name: 'closed',
      cidr: '198.51.100.0/24',
      gatewayIp: null,
      ranges: [{ first: '198.51.100.1', last: '198.51.100.9' }],
      projectIds: [office.project.id],
    })
    const request: VipRequest = { from: 'pool', poolId: closed.id, address: null }
    expect((await refusal(admission.createLoadBalancer(draftOf(stranger.id, [request])))).code).toBe(
      'ReferenceNotFound',
    )
    expect((await create({}, request)).vips[0]?.address).toBe('198.51.100.1')
    const members = [memberOf(randomUUID(), '10.0.0.5')]
    const outside = admission.createLoadBalancer(
      draftOf(stranger.id, [fromPool()], { pools: [poolOf(randomUUID(), members)] }),
    )
    expect((await refusal(outside)).code).toBe('MemberOutsideNetworks')
  })

  it('any VIP or node as a member', async () => {
    const victim = await create({})
    const network = await office.admission.createNetwork(networkDraft(office.stranger.id))
    await office.admission.addSubnet(network.id, subnetDraft('192.0.2.0/24', '192.0.2.1'))
    const pools = [poolOf(randomUUID(), [memberOf(randomUUID(), victim.vips[0]!.address)])]
    const error = await refusal(
      office.admission.createLoadBalancer(draftOf(office.stranger.id, [fromPool()], { pools })),
    )
    expect(error).toMatchObject({ code: 'AddressForbidden', field: 'pools[0].members[0].address' })
    expect(error.message).not.toContain(office.project.id)

    const group = await office.admission.createNodeGroup({ name: 'default', description: '', announcer: 'l2' })
    const { secret } = await office.admission.createEnrolmentToken({
      nodeName: 'n1',
      nodeGroupId: group.id,
      ttlSeconds: 60,
    })
    const node = await office.admission.enrolNode(secret, async () => 'a'.repeat(64))
    const own = office.admission.nodeAddresses(office.network.id, node.id).get(office.subnet.id)
    expect(own).toBe('10.0.0.254')
    const onNode = create({ pools: [poolOf(randomUUID(), [memberOf(randomUUID(), own!)])] })
    expect((await refusal(onNode)).code).toBe('AddressForbidden')
  })

  it('members of two networks', async () => {
    const other = await office.admission.createNetwork(networkDraft(office.project.id))
    await office.admission.addSubnet(other.id, subnetDraft('10.8.0.0/24', '10.8.0.1'))
    const members = [memberOf(randomUUID(), '10.0.0.5'), memberOf(randomUUID(), '10.8.0.5')]
    const error = await refusal(create({ pools: [poolOf(randomUUID(), members)] }))
    expect(error).toMatchObject({ code: 'InvalidField', field: 'pools[0].members[1].address' })
  })

  it('an address of an exhausted pool', async () => {
    const small = await office.admission.createAddressPool({
      name: 'small',
      description: '',
      ranges: [{ first: '198.51.100.0', last: '198.51.100.3' }],
      cidr: '198.51.100.0/24',
      gatewayIp: '198.51.100.1',
      projectIds: null,
      quarantineSeconds: 60,
    })
    const request: VipRequest = { from: 'pool', poolId: small.id, address: null }
    expect((await create({}, request)).vips[0]?.address).toBe('198.51.100.2')
    await create({}, request)
    const before = office.holdings()
    // The first VIP of the refused request was free, and still is.
    const error = await refusal(office.admission.createLoadBalancer(draftOf(office.project.id, [fromPool(), request])))
    expect(error.message).toBe('Address pool small has 0 of 2 addresses free')
    expect(office.holdings()).toEqual(before)
  })

  it.each([
    ['loadBalancers', 1],
    ['addresses', 1],
    ['listeners', 1],
    ['pools', 1],
    ['members', 1],
    ['healthMonitors', 0],
  ] as const)('more %s than the quota', async (resource, limit) => {
    await office.admission.setQuota(office.project.id, { [resource]: limit })
    const part = (port: number): Partial<LoadBalancerDraft> => ({
      listeners: [listenerOf(randomUUID(), port)],
      pools: [poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.5')])],
    })
    if (limit === 1) await create(part(80))
    const before = office.holdings()
    const more = part(81)
    const pools =
      resource === 'healthMonitors' ? [{ ...more.pools![0]!, monitor: monitorOf(randomUUID()) }] : more.pools!
    const error = await refusal(create({ ...more, pools }))
    expect(error).toMatchObject({ code: 'OverQuota', params: { resource, limit, used: limit, wanted: 1 } })
    expect(office.holdings()).toEqual(before)
  })
})

describe('changeLoadBalancer refuses', () => {
  it.each([
    ['an unknown field', { colour: 'red' }, 'UnknownField', 'colour'],
    ['an immutable field', { vips: [] }, 'ImmutableField', 'vips'],
    ['a wrong type', { pools: 'none' }, 'InvalidField', 'pools'],
    ['a missing field', { pools: [{}] }, 'InvalidField', 'pools[0].id'],
    [
      'a forbidden member',
      { pools: [poolOf(randomUUID(), [memberOf(randomUUID(), '10.99.0.1')])] },
      'AddressForbidden',
      'pools[0].members[0].address',
    ],
    [
      'a wrong member',
      { pools: [poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.5', 0)])] },
      'InvalidField',
      'pools[0].members[0].port',
    ],
  ])('%s', async (_what, change, code, field) => {
    const { id } = await create({})
    const before = office.holdings()
    const error = await refusal(office.admission.changeLoadBalancer(id, () => change as object))
    expect(error.field).toBe(field)
    expect([code, 'MissingField']).toContain(error.code)
    expect(office.holdings()).toEqual(before)
  })
  it('what does not exist', async () => {
    expect((await refusal(office.admission.changeLoadBalancer(randomUUID(), () => ({})))).code).toBe('NotFound')
    expect((await refusal(office.admission.deleteLoadBalancer(randomUUID(), { cascade: true }))).code).toBe('NotFound')
  })
  it('to delete a load balancer with children, without cascade', async () => {
    const { id } = await create({ listeners: [listenerOf(randomUUID(), 80)] })
    const error = await refusal(office.admission.deleteLoadBalancer(id, { cascade: false }))
    expect(error.message).toBe(`load balancer ${id} has listeners`)
    await office.admission.deleteLoadBalancer(id, { cascade: true })
  })
})

describe('networks and pools refuse', () => {
  it.each([
    ['loopback', subnetDraft('127.0.0.0/8', null), 'AddressForbidden', 'cidr'],
    ['loopback in the middle of it', subnetDraft('96.0.0.0/3', null), 'AddressForbidden', 'cidr'],
    ['a NAT64 prefix in the middle of it', subnetDraft('64::/16', null), 'AddressForbidden', 'cidr'],
    ['a management network', subnetDraft('10.99.4.0/24', '10.99.4.1'), 'AddressForbidden', 'cidr'],
    ['an overlap', subnetDraft('10.0.0.128/25', '10.0.0.129'), 'InvalidField', 'cidr'],
    ['host bits', subnetDraft('10.3.0.1/24', '10.3.0.1'), 'InvalidField', 'cidr'],
    ['no gateway where members reply through it', subnetDraft('10.3.0.0/24', null), 'InvalidField', 'gatewayIp'],
    ['a gateway elsewhere', subnetDraft('10.3.0.0/24', '10.4.0.1'), 'AddressOutsideSubnet', 'gatewayIp'],
    ['a broadcast gateway', subnetDraft('10.3.0.0/24', '10.3.0.255'), 'AddressForbidden', 'gatewayIp'],
  ])('%s', async (_what, draft, code, field) => {
    expect(await refusal(office.admission.addSubnet(office.network.id, draft))).toMatchObject({ code, field })
    expect(office.view.get('network', office.network.id)?.value.subnets).toHaveLength(1)
  })
  it('to delete what is in use', async () => {
    const { id } = await create({ pools: [poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.5')])] })
    const { admission, network, subnet, pool, project } = office
    expect((await refusal(admission.deleteNetwork(network.id))).code).toBe('InUse')
    expect((await refusal(admission.removeSubnet(network.id, subnet.id))).code).toBe('InUse')
    expect(await refusal(admission.deleteAddressPool(pool.id))).toMatchObject({
      code: 'InUse',
      message: `address pool ${pool.name} is in use by 1 address taken from it`,
    })
    expect((await refusal(admission.deleteProject(project.id))).code).toBe('HasChildren')
    await admission.deleteLoadBalancer(id, { cascade: true })
    await admission.removeSubnet(network.id, subnet.id)
    await admission.deleteNetwork(network.id)
    await admission.deleteAddressPool(pool.id)
    expect(office.view.list('address')).toEqual([])
    await admission.deleteProject(project.id)
  })
  it('ranges of another pool', async () => {
    const { id: _id, createdAt: _c, updatedAt: _u, ...draft } = office.pool
    const error = await refusal(office.admission.createAddressPool({ ...draft, name: 'again' }))
    expect(error).toMatchObject({ code: 'InvalidField', field: 'ranges[0]' })
  })
})

const fromPool = (): VipRequest & { readonly from: 'pool' } => ({ from: 'pool', poolId: office.pool.id, address: null })
const create = (fields: Partial<LoadBalancerDraft>, request: VipRequest = fromPool()) =>
  office.admission.createLoadBalancer(draftOf(office.project.id, [request], fields))
