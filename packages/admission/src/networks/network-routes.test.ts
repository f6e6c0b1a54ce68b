import { randomUUID } from 'node:crypto'
import { KINDS, type NetworkRoute, parseAs } from '@spout/model'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  draftOf,
  listenerOf,
  memberOf,
  networkDraft,
  type Office,
  openOffice,
  poolOf,
  refusal,
  subnetDraft,
} from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice({ managementCidrs: ['10.99.0.0/16'] })
  await office.admission.addSubnet(office.network.id, subnetDraft('fd01::/64', 'fd01::1'))
})
afterEach(() => office.close())

const ROUTER = '10.0.0.21'
const POD = '10.244.3.11'
const route = (to: string, via = ROUTER): NetworkRoute => ({ to, via })
const set = (...routes: readonly NetworkRoute[]) => office.admission.setNetworkRoutes(office.network.id, routes)
const routes = () => office.view.get('network', office.network.id)!.value.routes

/** A load balancer with a member at this address. */
const balance = (address: string, fields: object = {}) => {
  const pool = poolOf(randomUUID(), [memberOf(randomUUID(), address, 80, fields)])
  return office.admission.createLoadBalancer(
    draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }], {
      pools: [pool],
      listeners: [listenerOf(randomUUID(), 80, { defaultPoolId: pool.id })],
    }),
  )
}

describe('routes of a network', () => {
  it('are replaced as a whole; writing the same again is no change', async () => {
    expect(await set(route('10.244.3.0/24'), route('fd44:3::/64', 'fd01::21'))).toMatchObject({
      routes: [route('10.244.3.0/24'), route('fd44:3::/64', 'fd01::21')],
    })
    const revision = await office.store.revision()
    await set(route('10.244.3.0/24'), route('fd44:3::/64', 'fd01::21'))
    expect(await office.store.revision()).toBe(revision)
    await set(route('10.244.4.0/24'))
    expect(routes()).toEqual([route('10.244.4.0/24')])
    await set()
    expect(routes()).toEqual([])
  })

  it.each([
    ['host bits', [route('10.244.3.1/24')], 'InvalidField', 'routes[0].to'],
    ['a subnet of the network', [route('10.0.0.0/16')], 'InvalidField', 'routes[0].to'],
    ['loopback', [route('127.0.0.0/8')], 'AddressForbidden', 'routes[0].to'],
    ['what holds link-local addresses', [route('169.0.0.0/8')], 'AddressForbidden', 'routes[0].to'],
    ['the metadata service', [route('fd00:ec2::/64', 'fd01::21')], 'AddressForbidden', 'routes[0].to'],
    ['multicast', [route('224.1.0.0/16')], 'AddressForbidden', 'routes[0].to'],
    ['everything', [route('0.0.0.0/0')], 'AddressForbidden', 'routes[0].to'],
    ['a management network', [route('10.99.4.0/24')], 'AddressForbidden', 'routes[0].to'],
    ['addresses for load balancers', [route('192.0.2.128/25')], 'AddressForbidden', 'routes[0].to'],
    ['the same twice', [route('10.1.0.0/24'), route('10.1.0.0/24')], 'InvalidField', 'routes[1].to'],
    ['another route', [route('10.1.0.0/24'), route('10.1.0.0/16')], 'InvalidField', 'routes[1].to'],
    ['a router elsewhere', [route('10.1.0.0/24', '10.2.0.1')], 'InvalidField', 'routes[0].via'],
    ['a router of the other family', [route('10.1.0.0/24', 'fd01::21')], 'InvalidField', 'routes[0].via'],
    ['the gateway that nodes hold', [route('10.1.0.0/24', '10.0.0.1')], 'AddressForbidden', 'routes[0].via'],
    ['a broadcast address', [route('10.1.0.0/24', '10.0.0.255')], 'AddressForbidden', 'routes[0].via'],
  ] as const)('may not lead to or through %s', async (_, request, code, field) => {
    expect(await refusal(set(...request))).toMatchObject({ code, field })
    expect(routes()).toEqual([])
  })

  it('may not lead through a node or a VIP, nor to the address of a node', async () => {
    const { admission, network, subnet, project } = office
    const enrolment = await admission.createEnrolmentToken({
      nodeName: 'n1',
      nodeGroupId: await group(),
      ttlSeconds: 60,
    })
    const node = await admission.enrolNode(enrolment.secret, async () => 'a'.repeat(64))
    await admission.ensureNodeAddresses()
    const own = admission.nodeAddresses(network.id, node.id).get(subnet.id)!
    expect(await refusal(set(route('10.1.0.0/24', own)))).toMatchObject({ field: 'routes[0].via' })
    await admission.changeNode(node.id, { fabricAddress: '10.1.0.7' })
    expect(await refusal(set(route('10.2.0.0/24'), route('10.1.0.0/24')))).toMatchObject({
      code: 'AddressForbidden',
      field: 'routes[1].to',
    })
    const request = { from: 'subnet', networkId: network.id, subnetId: subnet.id, address: '10.0.0.77' } as const
    await admission.createLoadBalancer(draftOf(project.id, [request]))
    expect(await refusal(set(route('10.2.0.0/24', '10.0.0.77')))).toMatchObject({ field: 'routes[0].via' })
  })

  it('allow members behind them, and cannot be removed from under them', async () => {
    expect(await refusal(balance(POD))).toMatchObject({ code: 'MemberOutsideNetworks' })
    await set(route('10.244.3.0/24'), route('10.244.4.0/24'))
    expect(await balance(POD)).toMatchObject({ networkId: office.network.id })
    expect(await refusal(set(route('10.244.4.0/24')))).toMatchObject({
      code: 'InUse',
      message: `route 10.244.3.0/24 is in use by member ${POD}`,
    })
    await set(route('10.244.0.0/16'))
    await set(route('10.244.3.0/24', '10.0.0.22'))
  })

  it('put members in the subnet of their router, as Octavia means it', async () => {
    await set(route('10.244.3.0/24'))
    const [v4, v6] = office.view.get('network', office.network.id)!.value.subnets
    await balance(POD, { subnetId: v4!.id })
    // A subnet of the other IP version only tells the network.
    expect(await balance('10.244.3.12', { subnetId: v6!.id })).toMatchObject({ networkId: office.network.id })
    expect(await refusal(balance('10.244.4.12', { subnetId: v6!.id }))).toMatchObject({ code: 'AddressOutsideSubnet' })
    expect(await refusal(balance('10.244.4.12', { subnetId: v4!.id }))).toMatchObject({ code: 'AddressOutsideSubnet' })
  })

  it('protect their subnet, and subnets cannot overlap them', async () => {
    const { admission, network } = office
    const { id } = await admission.addSubnet(network.id, subnetDraft('10.5.0.0/24', '10.5.0.1'))
    await set(route('10.244.3.0/24', '10.5.0.9'))
    expect(await refusal(admission.removeSubnet(network.id, id))).toMatchObject({
      code: 'InUse',
      message: `subnet ${id} is in use by route 10.244.3.0/24 via 10.5.0.9`,
    })
    const inside = subnetDraft('10.244.3.128/25', '10.244.3.129')
    expect(await refusal(admission.addSubnet(network.id, inside))).toMatchObject({ field: 'cidr' })
    await set()
    await admission.removeSubnet(network.id, id)
  })

  it("keep their routers' addresses from nodes and VIPs", async () => {
    const { admission, network, subnet, project } = office
    await set(route('10.244.3.0/24', '10.0.0.254'), route('10.244.4.0/24', '10.0.0.2'))
    const enrolment = await admission.createEnrolmentToken({
      nodeName: 'n1',
      nodeGroupId: await group(),
      ttlSeconds: 60,
    })
    const node = await admission.enrolNode(enrolment.secret, async () => 'a'.repeat(64))
    await admission.ensureNodeAddresses()
    expect(admission.nodeAddresses(network.id, node.id).get(subnet.id)).toBe('10.0.0.253')
    const request = { from: 'subnet', networkId: network.id, subnetId: subnet.id, address: null } as const
    const made = await admission.createLoadBalancer(draftOf(project.id, [request]))
    expect(made.vips[0]!.address).toBe('10.0.0.3')
  })

  it('are refused with return path dsr, and the error says what to use', async () => {
    const { admission, project } = office
    const segment = { physicalNetwork: 'direct', vlan: null }
    const { id } = await admission.createNetwork({ ...networkDraft(project.id, 'dsr'), segment })
    await admission.addSubnet(id, subnetDraft('10.7.0.0/24', '10.7.0.1'))
    const error = await refusal(admission.setNetworkRoutes(id, [route('10.244.3.0/24', '10.7.0.2')]))
    expect(error).toMatchObject({ code: 'Unsupported', field: 'routes' })
    expect(error.message).toContain('reach tunnel')
    expect(await admission.setNetworkRoutes(id, [])).toMatchObject({ routes: [] })
  })

  it('can be 4,000', async () => {
    const many = Array.from({ length: 4096 }, (_, at) => route(`10.${100 + (at >> 8)}.${at & 255}.0/24`))
    await set(...many)
    expect(await refusal(set(...many, route('10.90.0.0/24')))).toMatchObject({ field: 'routes' })
    expect(await balance('10.115.255.9')).toMatchObject({ networkId: office.network.id })
  })

  it('are empty in a network stored before routes existed', () => {
    const { routes: _, ...before } = office.view.get('network', office.network.id)!.value
    expect(parseAs(KINDS.network, before)).toMatchObject({ routes: [] })
  })
})

const group = async (): Promise<string> =>
  (await office.admission.createNodeGroup({ name: 'g', description: '', announcer: 'l2' })).id

describe('routes of a network with return path node', () => {
  const way = (to: string, fields: object = {}) => ({ to, via: '10.8.0.1', ...fields })
  const hosted = async () => {
    const { id } = await office.admission.createNetwork({
      ...networkDraft(office.project.id, 'node'),
      segment: { physicalNetwork: 'cluster', vlan: null },
    })
    await office.admission.addSubnet(id, subnetDraft('10.8.0.0/24', '10.8.0.1'))
    return id
  }

  it('name the node that hosts the members, which may come later', async () => {
    const id = await hosted()
    const routes = [way('10.244.1.0/24', { node: 'worker-1.example.net' }), way('10.244.2.0/24', { node: 'worker2' })]
    expect(await office.admission.setNetworkRoutes(id, routes)).toMatchObject({ routes })
    expect(await refusal(office.admission.setNetworkRoutes(id, [way('10.244.1.0/24')]))).toMatchObject({
      code: 'InvalidField',
      field: 'routes[0].node',
    })
    expect(office.view.get('network', id)?.value.routes).toEqual(routes)
  })

  it('name none with another return path', async () => {
    const named = { ...route('10.244.3.0/24'), node: 'worker1' }
    expect(await refusal(set(named))).toMatchObject({ code: 'InvalidField', field: 'routes[0].node' })
  })

  it('lead to members of load balancers on the fabric alone', async () => {
    const id = await hosted()
    await office.admission.setNetworkRoutes(id, [way('10.244.1.0/24', { node: 'worker1' })])
    const pool = poolOf(randomUUID(), [memberOf(randomUUID(), '10.244.1.11', 80)])
    const parts = { pools: [pool], listeners: [listenerOf(randomUUID(), 80, { defaultPoolId: pool.id })] }
    const { subnets } = office.view.get('network', id)!.value
    const inside = [{ from: 'subnet' as const, networkId: id, subnetId: subnets[0]!.id, address: null }]
    expect(await refusal(office.admission.createLoadBalancer(draftOf(office.project.id, inside, parts)))).toMatchObject(
      { code: 'Unsupported', field: 'vips[0]' },
    )
    const outside = [{ from: 'pool' as const, poolId: office.pool.id, address: null }]
    expect(await office.admission.createLoadBalancer(draftOf(office.project.id, outside, parts))).toMatchObject({
      networkId: id,
    })
  })
})
