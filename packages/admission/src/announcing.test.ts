import { randomUUID } from 'node:crypto'
import { memberOf, poolOf } from '@spout/testkit/model'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BgpAdvertisementDraft, BgpPeerDraft } from './contract/bgp-admission.ts'
import type { NodeGroupDraft } from './contract/node-group-admission.ts'
import { draftOf, type Office, openOffice, refusal } from './testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

const NOBODY = '00000000-0000-4000-8000-00000000dead'

async function enrol(name: string, nodeGroupId: string) {
  const { secret } = await office.admission.createEnrolmentToken({ nodeName: name, nodeGroupId, ttlSeconds: 60 })
  return office.admission.enrolNode(secret, async () => 'a'.repeat(64))
}

describe('node groups', () => {
  it('announce by vrrp by default, with unique router ids for their shards', async () => {
    const first = await office.admission.createNodeGroup({ name: 'a' })
    const second = await office.admission.createNodeGroup({ name: 'b', vrrp: { excludedRouterIds: [5, 6] } })
    expect([first.announcer, first.vrrp.routerIds]).toEqual(['vrrp', [1, 2, 3, 4]])
    expect(second.vrrp.routerIds).toEqual([7, 8, 9, 10])
    const named = await office.admission.createNodeGroup({ name: 'c', vrrp: { shards: 2, routerIds: [200, 100] } })
    expect(named.vrrp.routerIds).toEqual([200, 100])
    const l2 = await office.admission.createNodeGroup({ name: 'd', announcer: 'l2' })
    expect(l2.vrrp.routerIds).toEqual([])
    expect((await office.admission.changeNodeGroup(l2.id, { announcer: 'vrrp' })).vrrp.routerIds).toEqual([
      5, 6, 11, 12,
    ])
  })

  it('created at the same time share no router id', async () => {
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => office.admission.createNodeGroup({ name })))
    expect(new Set(all.flatMap(({ vrrp }) => vrrp.routerIds)).size).toBe(20)
  })

  it('keep their router ids through changes, except excluded ones', async () => {
    const { id } = await office.admission.createNodeGroup({ name: 'a', vrrp: { shards: 3 } })
    const change = async (vrrp: NodeGroupDraft['vrrp']) =>
      (await office.admission.changeNodeGroup(id, { vrrp })).vrrp.routerIds
    expect(await change({ shards: 4 })).toEqual([1, 2, 3, 4])
    expect(await change({ excludedRouterIds: [2] })).toEqual([1, 5, 3, 4])
    expect(await change({ shards: 2, profile: 'relaxed' })).toEqual([1, 5])
  })

  it.each<[string, NodeGroupDraft, string, RegExp]>([
    ['an id of another group', { name: 'b', vrrp: { shards: 1, routerIds: [1] } }, 'vrrp.routerIds[0]', /group taken/],
    ['an id twice', { name: 'b', vrrp: { shards: 2, routerIds: [9, 9] } }, 'vrrp.routerIds[1]', /twice/],
    [
      'an id that is excluded',
      { name: 'b', vrrp: { shards: 1, routerIds: [9], excludedRouterIds: [9] } },
      'vrrp.routerIds[0]',
      /excluded/,
    ],
    ['too few ids', { name: 'b', vrrp: { shards: 2, routerIds: [9] } }, 'vrrp.routerIds', /each of the 2 shards/],
    ['id 0', { name: 'b', vrrp: { routerIds: [0] } }, 'vrrp.routerIds[0]', /at least 1/],
    ['17 shards', { name: 'b', vrrp: { shards: 17 } }, 'vrrp.shards', /at most 16/],
    [
      'more shards than ids are left',
      { name: 'b', vrrp: { excludedRouterIds: Array.from({ length: 253 }, (_, at) => at + 1) } },
      'vrrp.shards',
      /no VRRP router id is left/,
    ],
    ['bgp without an AS', { name: 'b', announcer: 'bgp' }, 'bgp.localAs', /required/],
    ['a reserved AS', { name: 'b', announcer: 'bgp', bgp: { localAs: 23_456 } }, 'bgp.localAs', /reserved/],
    ['AS 0', { name: 'b', announcer: 'bgp', bgp: { localAs: 0 } }, 'bgp.localAs', /reserved/],
    ['a taken name', { name: 'taken' }, 'name', /already exists/],
  ])('refuse %s', async (_what, draft, field, reason) => {
    await office.admission.createNodeGroup({ name: 'taken' })
    const error = await refusal(office.admission.createNodeGroup(draft))
    expect(error.field).toBe(field)
    expect(error.message).toMatch(reason)
    expect(office.view.list('nodeGroup')).toHaveLength(1)
  })

  it('cannot be deleted while something refers to them', async () => {
    const group = await office.admission.createNodeGroup({ name: 'a' })
    const peer = await office.admission.createBgpPeer({
      name: 'p',
      address: '192.0.2.251',
      as: 64_600,
      nodeSelection: { nodeGroupIds: [group.id] },
    })
    expect(await refusal(office.admission.deleteNodeGroup(group.id))).toMatchObject({
      code: 'InUse',
      params: { user: 'BGP peer p' },
    })
    await office.admission.deleteBgpPeer(peer.id)
    const node = await enrol('n1', group.id)
    expect(await refusal(office.admission.deleteNodeGroup(group.id))).toMatchObject({ params: { user: 'node n1' } })
    await office.admission.deleteNode(node.id)
    await office.admission.deleteNodeGroup(group.id)
    expect(office.view.list('nodeGroup')).toEqual([])
  })
})

describe('nodes', () => {
  it("prefer the administrator's fabric address over the agent's, and remember when they were drained", async () => {
    const group = await office.admission.createNodeGroup({ name: 'a' })
    const [one, two] = [await enrol('n1', group.id), await enrol('n2', group.id)]
    await office.admission.seeFabricAddress(one.id, '198.51.100.1')
    const taken = await refusal(office.admission.seeFabricAddress(two.id, '198.51.100.1'))
    expect(taken).toMatchObject({ code: 'AddressTaken', field: 'fabricAddress' })
    expect(await refusal(office.admission.changeNode(two.id, { fabricAddress: '127.0.0.1' }))).toMatchObject({
      code: 'AddressForbidden',
    })
    const moved = await office.admission.changeNode(two.id, { fabricAddress: '198.51.100.2', scheduling: 'draining' })
    expect(moved).toMatchObject({ fabricAddress: '198.51.100.2', schedulingSince: '2026-01-01T00:00:00.000Z' })
    office.later(5000)
    expect(await office.admission.changeNode(two.id, { description: 'x' })).toMatchObject({
      schedulingSince: '2026-01-01T00:00:00.000Z',
    })
    const peer = { name: 'p', address: '192.0.2.251', as: 64_600, nodeSelection: { nodeIds: [two.id] } }
    await office.admission.createBgpPeer(peer)
    expect(await refusal(office.admission.deleteNode(two.id))).toMatchObject({ code: 'InUse' })
  })

  it('are drained by what their cluster asks for, as by an administrator', async () => {
    const group = await office.admission.createNodeGroup({ name: 'a' })
    const { id } = await enrol('n1', group.id)
    const wish = { scheduling: 'draining', reason: 'condition Ready is Unknown' } as const
    const drained = await office.admission.changeNode(id, { clusterScheduling: wish })
    expect(drained).toMatchObject({ scheduling: 'draining', drainedSince: drained.schedulingSince })
    expect(drained.drainedSince).not.toBeNull()
    for (const bad of [
      { ...wish, scheduling: 'enabled' },
      { ...wish, reason: 'two\nlines' },
    ])
      expect(await refusal(office.admission.changeNode(id, { clusterScheduling: bad as never }))).toMatchObject({
        code: 'InvalidField',
      })
  })

  it('change their group while they drain, and not otherwise', async () => {
    const [one, two] = [
      await office.admission.createNodeGroup({ name: 'a' }),
      await office.admission.createNodeGroup({ name: 'b' }),
    ]
    const { id } = await enrol('n1', one.id)
    const moving = (nodeGroupId: string) => office.admission.changeNode(id, { nodeGroupId })
    expect(await refusal(moving(two.id))).toMatchObject({ code: 'InUse' })
    await office.admission.setNodeScheduling(id, 'draining')
    expect(await refusal(moving(id))).toMatchObject({ code: 'ReferenceNotFound', field: 'nodeGroupId' })
    expect(await moving(two.id)).toMatchObject({ nodeGroupId: two.id, scheduling: 'draining' })
    expect(await office.admission.setNodeScheduling(id, 'enabled')).toMatchObject({ nodeGroupId: two.id })
  })
})

it("a node's claim of an address that is not of the fabric is refused, and takes it from nobody", async () => {
  await office.close()
  office = await openOffice({ fabricCidrs: ['198.51.100.0/24', '2001:db8:f::/64'] })
  const group = await office.admission.createNodeGroup({ name: 'a' })
  const { id } = await enrol('n1', group.id)
  for (const address of ['10.0.0.9', '198.51.101.1', '2001:db8::1', '::ffff:10.0.0.9']) {
    const refused = await refusal(office.admission.seeFabricAddress(id, address))
    expect(refused).toMatchObject({ code: 'AddressForbidden', field: 'fabricAddress' })
  }
  expect(office.view.get('node', id)?.value.seenFabricAddress).toBeNull()
  // The tenant's request names the pool as before.
  const vips = [{ from: 'pool', poolId: office.pool.id, address: null }] as const
  const pools = [poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.9')])]
  await office.admission.createLoadBalancer({ ...draftOf(office.project.id, [...vips]), pools })
  await office.admission.seeFabricAddress(id, '198.51.100.7')
  expect(office.view.get('node', id)?.value.seenFabricAddress).toBe('198.51.100.7')
})

describe('without configured networks of the fabric', () => {
  const seen = (id: string) => office.view.get('node', id)?.value.seenFabricAddress

  it('a node has the first address that it claims, and later one only where nodes are: it takes none from tenants', async () => {
    const { admission } = office
    const group = await admission.createNodeGroup({ name: 'a' })
    const [one, two, three] = [
      await enrol('n1', group.id),
      await enrol('n2', group.id),
      await enrol('n3', group.id),
    ] as const
    await admission.seeFabricAddress(one.id, '198.51.100.1')
    await admission.seeFabricAddress(two.id, '203.0.113.2')
    await admission.changeNode(three.id, { fabricAddress: '2001:db8:f::3' })
    // A compromised node claims addresses that tenants' members may have.
    for (const address of ['10.0.0.9', '198.51.101.1', '2001:db8:e::1', '::ffff:10.0.0.9']) {
      const refused = await refusal(admission.seeFabricAddress(one.id, address))
      expect(refused).toMatchObject({ code: 'AddressForbidden', field: 'fabricAddress' })
      expect(refused.message).toContain('set network.fabricCidrs')
    }
    expect(seen(one.id)).toBe('198.51.100.1')
    const vips = [{ from: 'pool', poolId: office.pool.id, address: null }] as const
    const pools = [poolOf(randomUUID(), [memberOf(randomUUID(), '10.0.0.9')])]
    await admission.createLoadBalancer({ ...draftOf(office.project.id, [...vips]), pools })
    for (const address of ['198.51.100.7', '203.0.113.7', '2001:db8:f::7']) {
      await admission.seeFabricAddress(one.id, address)
      expect(seen(one.id)).toBe(address)
    }
  })

  it('a node that is enrolled anew keeps its networks; removed and enrolled it may be anywhere', async () => {
    const { admission } = office
    const group = await admission.createNodeGroup({ name: 'a' })
    const { id } = await enrol('n1', group.id)
    await admission.seeFabricAddress(id, '198.51.100.1')
    expect((await enrol('n1', group.id)).id).toBe(id)
    expect(await refusal(admission.seeFabricAddress(id, '203.0.113.1'))).toMatchObject({ code: 'AddressForbidden' })
    await admission.deleteNode(id)
    const again = await enrol('n1', group.id)
    await admission.seeFabricAddress(again.id, '203.0.113.1')
    expect(seen(again.id)).toBe('203.0.113.1')
  })

  it("an administrator's address says where nodes are", async () => {
    const { admission } = office
    const group = await admission.createNodeGroup({ name: 'a' })
    const { id } = await enrol('n1', group.id)
    await admission.seeFabricAddress(id, '198.51.100.1')
    await admission.changeNode(id, { fabricAddress: '203.0.113.9' })
    await admission.seeFabricAddress(id, '203.0.113.1')
    expect(seen(id)).toBe('203.0.113.1')
  })
})

describe('BGP peers', () => {
  const peer = (fields: Partial<BgpPeerDraft> = {}): BgpPeerDraft => ({
    name: 'p',
    address: '192.0.2.251',
    as: 64_600,
    ...fields,
  })

  it.each<[string, BgpPeerDraft, string, RegExp]>([
    ['no AS', peer({ as: null }), 'as', /required/],
    ['AS 0', peer({ as: 0 }), 'as', /reserved/],
    ['AS 65535', peer({ as: 65_535 }), 'as', /reserved/],
    ['the last AS', peer({ as: 4_294_967_295 }), 'as', /reserved/],
    ['a hold time of 2', peer({ holdTimeS: 2 }), 'holdTimeS', /at least 3/],
    [
      'keepalive above a third of the hold time',
      peer({ keepaliveTimeS: 4 }),
      'keepaliveTimeS',
      /third of the hold time/,
    ],
    ['a hold time too short for the keepalive', peer({ holdTimeS: 8 }), 'holdTimeS', /third of the hold time/],
    ['a loopback address', peer({ address: '127.0.0.1' }), 'address', /loopback/],
    ['an unnumbered peer far away', peer({ address: null, hops: 2 }), 'hops', /unnumbered/],
    ['a secret with a space', peer({ md5Secret: 'a b' }), 'md5Secret', /printable ASCII/],
    ['a secret that is too long', peer({ md5Secret: 'x'.repeat(81) }), 'md5Secret', /at most 80/],
    ['the word that stands for a secret', peer({ md5Secret: '[redacted]' }), 'md5Secret', /stored already/],
    ['a BFD profile that is none', peer({ bfd: 'quick' as 'fast' }), 'bfd', /./],
    ['an empty selection', peer({ nodeSelection: {} }), 'nodeSelection', /selects nothing/],
    [
      'an unknown group',
      peer({ nodeSelection: { nodeGroupIds: [NOBODY] } }),
      'nodeSelection.nodeGroupIds[0]',
      /not found/,
    ],
    ['an unknown node', peer({ nodeSelection: { nodeIds: [NOBODY] } }), 'nodeSelection.nodeIds[0]', /not found/],
    ['an unknown template', peer({ templateId: NOBODY }), 'templateId', /not found/],
    ['a template with an address', peer({ template: true }), 'address', /a template has none/],
    ['a taken name', peer({ name: 'old', address: '192.0.2.1' }), 'name', /already exists/],
    [
      'the address of another on the same nodes',
      peer({ address: '192.0.2.250' }),
      'address',
      /BGP peer old is 192.0.2.250 too/,
    ],
    [
      'the address of another written otherwise',
      peer({ address: '2001:DB8::0:1', nodeSelection: null }),
      'address',
      /BGP peer old6/,
    ],
  ])('refuse %s', async (_what, draft, field, reason) => {
    await office.admission.createBgpPeer(peer({ name: 'old', address: '192.0.2.250' }))
    await office.admission.createBgpPeer(peer({ name: 'old6', address: '2001:db8::1' }))
    const error = await refusal(office.admission.createBgpPeer(draft))
    expect(error.field).toBe(field)
    expect(error.message).toMatch(reason)
    expect(office.view.list('bgpPeer')).toHaveLength(2)
  })

  it('may share an address if no node peers with both', async () => {
    const a = await office.admission.createNodeGroup({ name: 'a' })
    const b = await office.admission.createNodeGroup({ name: 'b' })
    const node = await enrol('n1', a.id)
    const of = (name: string, nodeSelection: BgpPeerDraft['nodeSelection']) =>
      office.admission.createBgpPeer(peer({ name, nodeSelection }))
    await of('one', { nodeGroupIds: [a.id] })
    await of('two', { nodeGroupIds: [b.id] })
    expect((await refusal(of('three', { nodeIds: [node.id] }))).message).toMatch(/BGP peer one .* node n1/)
    expect((await refusal(of('four', null))).message).toMatch(/the same nodes/)
  })

  it('inherit from a template, and a template is checked with its peers', async () => {
    const template = await office.admission.createBgpPeer({ name: 't', template: true, as: 64_600, holdTimeS: 30 })
    const heir = await office.admission.createBgpPeer(peer({ as: null, templateId: template.id, keepaliveTimeS: 10 }))
    expect(heir.as).toBeNull()
    const error = await refusal(office.admission.changeBgpPeer(template.id, { holdTimeS: 9 }))
    expect(error.message).toMatch(/for BGP peer p/)
    expect((await refusal(office.admission.changeBgpPeer(template.id, { as: null }))).field).toBe('as')
    expect(await refusal(office.admission.deleteBgpPeer(template.id))).toMatchObject({ code: 'InUse' })
    expect((await refusal(office.admission.changeBgpPeer(heir.id, { template: true }))).code).toBe('ImmutableField')
    const chained = { name: 'u', template: true, templateId: template.id }
    expect((await refusal(office.admission.createBgpPeer(chained))).field).toBe('templateId')
    expect((await refusal(office.admission.createBgpPeer(peer({ name: 'q', templateId: heir.id })))).message).toMatch(
      /no template/,
    )
  })
})

describe('BGP advertisements', () => {
  it.each<[string, BgpAdvertisementDraft, string, RegExp]>([
    ['an unknown pool', { name: 'x', addressPoolIds: [NOBODY] }, 'addressPoolIds[0]', /not found/],
    ['an unknown peer', { name: 'x', peerIds: [NOBODY] }, 'peerIds[0]', /not found/],
    ['half a community', { name: 'x', communities: ['64500'] }, 'communities[0]', /not a community/],
    [
      'a community with letters',
      { name: 'x', communities: ['64500:1', '64500:x'] },
      'communities[1]',
      /not a community/,
    ],
    ['a number too large', { name: 'x', communities: ['65536:1'] }, 'communities[0]', /not a community/],
    ['leading zeros', { name: 'x', communities: ['064500:1'] }, 'communities[0]', /not a community/],
    ['a large one too large', { name: 'x', communities: ['1:2:4294967296'] }, 'communities[0]', /not a community/],
    ['what only draining says', { name: 'x', communities: ['65535:0'] }, 'communities[0]', /GRACEFUL_SHUTDOWN/],
    [
      'a prefix wider than the pool',
      { name: 'x', aggregateLength4: 16, addressPoolIds: ['POOL'] },
      'aggregateLength4',
      /wider than 192.0.2.0\/24/,
    ],
    ['a taken name', { name: 'old', addressPoolIds: [] }, 'name', /already exists/],
    ['a second for the rest', { name: 'x' }, 'addressPoolIds', /BGP advertisement old is for all pools/],
  ])('refuse %s', async (_what, draft, field, reason) => {
    await office.admission.createBgpAdvertisement({ name: 'old' })
    const addressPoolIds = draft.addressPoolIds?.map((id) => (id === 'POOL' ? office.pool.id : id))
    const error = await refusal(office.admission.createBgpAdvertisement({ ...draft, addressPoolIds }))
    expect(error.field).toBe(field)
    expect(error.message).toMatch(reason)
  })

  it('cover a pool once, have small numbers, and protect what they refer to', async () => {
    const { admission, pool } = office
    const first = await admission.createBgpAdvertisement({ name: 'a', addressPoolIds: [pool.id], aggregateLength4: 24 })
    const second = await admission.createBgpAdvertisement({ name: 'b', communities: ['64500:1', '64500:2:3'] })
    expect([first.number, second.number]).toEqual([2, 3])
    const again = await refusal(admission.createBgpAdvertisement({ name: 'c', addressPoolIds: [pool.id] }))
    expect(again.message).toMatch(/BGP advertisement a is for this pool already/)
    expect(await refusal(admission.deleteAddressPool(pool.id))).toMatchObject({
      code: 'InUse',
      params: { user: 'BGP advertisement a' },
    })
    await admission.changeBgpAdvertisement(second.id, { aggregateLength4: 24, communities: [] })
    const wide = admission.createAddressPool({
      name: 'small',
      description: '',
      ranges: [{ first: '198.51.100.1', last: '198.51.100.2' }],
      cidr: '198.51.100.0/28',
      gatewayIp: null,
      projectIds: null,
      quarantineSeconds: 0,
    })
    expect((await refusal(wide)).message).toMatch(/BGP advertisement b would announce a wider prefix/)
    await admission.deleteBgpAdvertisement(first.id)
    expect((await admission.createBgpAdvertisement({ name: 'd', addressPoolIds: [pool.id] })).number).toBe(2)
  })
})
