import { readdirSync, readFileSync } from 'node:fs'
import { type BgpAdvertisementIntent, bgpAdvertisement, bgpPeer, type NodeGroup, nodeGroup } from '@spout/model'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { advertisementsByPool } from '../announcers/bgp/advertisements.ts'
import type { GroupNode } from '../announcers/group-node.ts'
import type { GroupPlanInput } from '../announcers/group-plan-input.ts'
import { shardPriorities } from '../announcers/vrrp/plan-vrrp.ts'
import { id } from '../testing/documents.ts'
import { planGroup } from './plan-group.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const meta = (number: number, name: string) => ({
  id: id(number),
  name,
  description: '',
  createdAt: NOW,
  updatedAt: null,
})

const group = (fields: Record<string, unknown> = {}): NodeGroup =>
  nodeGroup.parse({
    ...meta(1, 'default'),
    announcer: 'vrrp',
    vrrp: { routerIds: [11, 12, 13, 14] },
    ...fields,
  })

const node = (number: number, fields: Partial<GroupNode> = {}): GroupNode => ({
  id: id(0xa00 + number),
  name: `n${number}`,
  scheduling: 'enabled',
  schedulingSince: null,
  drainedSince: null,
  fabricAddress: `192.0.2.${number}`,
  connection: 'connected',
  ...fields,
})

const peer = (number: number, fields: Record<string, unknown> = {}) =>
  bgpPeer.parse({ ...meta(0xb00 + number, `p${number}`), address: `192.0.2.${250 + number}`, as: 64_512, ...fields })

const plan = (fields: Partial<GroupPlanInput>) =>
  planGroup({ group: group(), nodes: [], peers: [], advertisements: [], nowMs: Date.parse(NOW), ...fields })

const bgpGroup = (fields: Record<string, unknown> = {}) =>
  group({ announcer: 'bgp', bgp: { localAs: 64_500, drainSeconds: 10, ...fields } })

describe('planGroup', () => {
  it('gives nodes of an l2 group nothing', () => {
    expect(plan({ group: group({ announcer: 'l2' }), nodes: [node(1)] }).entries.size).toBe(0)
  })

  it('names the fabric interface to every node, also of an l2 group', () => {
    const fabric = { interface: 'edge0' }
    for (const announcer of ['l2', 'vrrp']) {
      const { entries } = plan({ group: group({ announcer, fabric }), nodes: [node(1), node(2)] })
      expect([...entries.values()].map((entry) => entry.fabric)).toEqual([fabric, fabric])
    }
  })

  it('leaves out a node without the fabric interface, with the reason, and gives its address to no other', () => {
    const named = group({ name: 'edge', fabric: { reaches: '192.0.2.254' } })
    const { entries, problems } = plan({ group: named, nodes: [node(1), node(2, { lacksFabric: true })] })
    expect(entries.get(id(0xa01))?.vrrp?.peers).toEqual([])
    expect(entries.get(id(0xa02))).toMatchObject({ vrrp: null, fabric: { reaches: '192.0.2.254' } })
    expect([...problems]).toEqual([
      [
        id(0xa02),
        [
          {
            code: 'FabricMissing',
            message:
              'It has not taken the fabric interface of group `edge`, in the network of 192.0.2.254: it carries nothing.',
          },
        ],
      ],
    ])
  })

  it("lists the addresses of all other nodes, silent ones too, and not the node's own", () => {
    const { entries } = plan({ nodes: [node(1), node(2, { connection: 'lost' }), node(3, { connection: 'never' })] })
    expect(entries.get(id(0xa01))?.vrrp).toMatchObject({ source: '192.0.2.1', peers: ['192.0.2.2', '192.0.2.3'] })
  })

  it.each<[string, GroupNode, string]>([
    ['is not known', node(2, { fabricAddress: null }), 'NoFabricAddress'],
    ['is of another family', node(2, { fabricAddress: '2001:db8::2' }), 'FabricFamilyDiffers'],
    ['is that of another', node(2, { fabricAddress: '192.0.2.1' }), 'FabricAddressTaken'],
  ])('leaves out a node whose address %s, and gives it to no other node', (_what, other, code) => {
    const { entries, problems } = plan({ nodes: [node(1), other, node(3)] })
    expect(entries.get(other.id)).toMatchObject({ vrrp: null })
    expect(problems.get(other.id)).toMatchObject([{ code }])
    expect(entries.get(id(0xa01))?.vrrp?.peers).toEqual(['192.0.2.3'])
    expect(problems.get(id(0xa01))).toBeUndefined()
  })

  it('works with one node', () => {
    expect(plan({ nodes: [node(1)] }).entries.get(id(0xa01))?.vrrp).toMatchObject({ peers: [], yield: false })
  })

  it.each<[string, Partial<GroupNode>, boolean]>([
    ['another can take over', {}, true],
    ['the other is drained too', { scheduling: 'draining' }, false],
    ['the other is lost', { connection: 'lost' }, false],
    ['the other is silent', { connection: 'disconnected' }, false],
    ['the other takes no part', { fabricAddress: null }, false],
  ])('a draining node yields when %s: %s', (_what, other, yields) => {
    const { entries } = plan({ nodes: [node(1, { scheduling: 'draining' }), node(2, other)] })
    expect(entries.get(id(0xa01))?.vrrp?.yield).toBe(yields)
  })

  it('drains BGP in two steps, and says when the second is due', () => {
    const drained = node(1, { scheduling: 'draining', schedulingSince: NOW })
    const at = (seconds: number) =>
      plan({ group: bgpGroup(), nodes: [drained, node(2)], nowMs: Date.parse(NOW) + 1000 * seconds })
    expect(at(0).entries.get(drained.id)?.bgp?.drain).toBe('prefer-others')
    expect(at(0).againAtMs).toBe(Date.parse(NOW) + 10_000)
    expect(at(10).entries.get(drained.id)?.bgp?.drain).toBe('withdrawn')
    // Until then others may forward packets of its connections to it.
    expect(at(10).againAtMs).toBe(Date.parse(NOW) + 300_000)
    expect(at(10).entries.get(id(0xa02))?.bgp?.drain).toBe('none')
    const alone = plan({ group: bgpGroup(), nodes: [drained], nowMs: Date.parse(NOW) + 60_000 })
    expect(alone.entries.get(drained.id)?.bgp?.drain).toBe('prefer-others')
  })

  it.each(['vrrp', 'bgp'] as const)('holds a drain back while `heldBack` says so, with %s', (announcer) => {
    const drained = node(1, { scheduling: 'draining', schedulingSince: NOW, drainedSince: NOW })
    const nodes = [drained, node(2)]
    const of = (heldBack: ReadonlySet<string>) =>
      plan({ group: announcer === 'bgp' ? bgpGroup() : group(), nodes, heldBack }).entries
    const [waiting, begun] = [of(new Set([drained.id])), of(new Set())]
    expect([waiting, begun].map((entries) => entries.get(drained.id)?.vrrp?.yield)).toEqual([false, true])
    const drains = announcer === 'bgp' ? ['none', 'prefer-others'] : [undefined, undefined]
    expect([waiting, begun].map((entries) => entries.get(drained.id)?.bgp?.drain)).toEqual(drains)
    // Before it gives anything up it does not ask clients to reconnect. So it cannot report that none is left.
    const leavings = [waiting, begun].map((entries) => entries.get(drained.id)?.secondChance?.leavingSince ?? null)
    expect(leavings).toEqual([null, NOW])
    // The other node gets the same entry before and after.
    expect(waiting.get(id(0xa02))).toEqual(begun.get(id(0xa02)))
    expect(begun.get(id(0xa02))?.secondChance).toMatchObject({ first: '192.0.2.1' })
  })

  it('gives nodes of an l2 group a second chance and no other part', () => {
    const nodes = [node(1, { scheduling: 'draining', drainedSince: NOW }), node(2)]
    const { entries } = plan({ group: group({ announcer: 'l2' }), nodes })
    expect(entries.get(id(0xa02))).toEqual({
      ...{ kind: 'group', version: 1, key: 'group', vrrp: null, bgp: null, flows: null },
      secondChance: {
        ...{ first: '192.0.2.1', firstNode: id(0xa01), next: null },
        ...{ leavingSince: null, since: NOW, seconds: 300 },
      },
    })
  })

  it('gives a node its selected peers with their templates, and reports what is missing', () => {
    const template = peer(9, { template: true, address: null, as: 64_600, md5Secret: 'inherited', bfd: 'fast' })
    const peers = [
      peer(1, { templateId: template.id, as: null }),
      peer(2, { nodeSelection: { nodeIds: [id(0xa02)] }, md5Secret: '', gracefulRestartS: 0 }),
      peer(3, { nodeSelection: { nodeGroupIds: [id(77)] } }),
      template,
    ]
    const { entries, problems } = plan({ group: bgpGroup(), nodes: [node(1), node(2)], peers })
    const first = entries.get(id(0xa01))?.bgp?.peers
    expect(first).toMatchObject([{ id: peers[0]!.id, as: 64_600, md5Secret: 'inherited', bfd: { multiplier: 3 } }])
    expect(entries.get(id(0xa02))?.bgp?.peers[1]).toMatchObject({
      id: peers[1]!.id,
      md5Secret: null,
      gracefulRestartS: null,
      families: ['ipv4'],
    })
    expect(problems.size).toBe(0)
    expect(plan({ group: bgpGroup(), nodes: [node(1)] }).problems.get(id(0xa01))).toMatchObject([{ code: 'NoBgpPeer' }])
    const twice = [peer(1), peer(2, { address: '192.0.2.251' })]
    expect(plan({ group: bgpGroup(), nodes: [node(1)], peers: twice }).problems.get(id(0xa01))).toMatchObject([
      { code: 'PeerTwice' },
    ])
  })

  it('has a router id of its own for a node that has no IPv4 address', () => {
    const { entries } = plan({
      group: bgpGroup(),
      nodes: [node(1, { id: `c0a80105${id(1).slice(8)}`, fabricAddress: '2001:db8::1' })],
    })
    expect([...entries.values()][0]?.bgp?.routerId).toBe('192.168.1.5')
  })
})

test('no two nodes of a shard have one priority, first owners are even, and the reserve comes last', () => {
  const nodes = fc.array(fc.constantFrom('enabled' as const, 'cordoned' as const, 'draining' as const), {
    minLength: 1,
    maxLength: 20,
  })
  fc.assert(
    fc.property(nodes, fc.integer({ min: 1, max: 16 }), (schedulings, shards) => {
      const all = schedulings.map((scheduling, at) => ({ id: String(at), scheduling }))
      const enabled = all.filter(({ scheduling }) => scheduling === 'enabled')
      const first = new Map<string, number>()
      for (const priorities of shardPriorities(all, shards)) {
        expect(new Set(priorities.values()).size).toBe(all.length)
        expect(Math.max(...priorities.values())).toBe(254)
        expect(Math.min(...priorities.values())).toBeGreaterThan(0)
        const order = [...priorities].sort((a, b) => b[1] - a[1]).map(([nodeId]) => nodeId)
        expect(order.slice(0, enabled.length).sort()).toEqual(enabled.map((one) => one.id).sort())
        first.set(order[0]!, (first.get(order[0]!) ?? 0) + 1)
      }
      if (enabled.length === 0) return
      const counts = enabled.map((one) => first.get(one.id) ?? 0)
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    }),
  )
})

test('an address uses the advertisement of its pool, else the one for all others, else the plain one', () => {
  const said = (number: number, addressPoolIds: string[] | null): BgpAdvertisementIntent =>
    bgpAdvertisement.parse({ ...meta(number, ''), number, addressPoolIds })
  expect(advertisementsByPool([])).toEqual({ byPool: {}, otherwise: 1 })
  expect(advertisementsByPool([said(2, [id(1)]), said(3, null)])).toEqual({ byPool: { [id(1)]: 2 }, otherwise: 3 })
})

const testdata = new URL('testdata/', import.meta.url)

describe('golden groups', () => {
  const names = readdirSync(testdata).flatMap((name) => /^(.+)\.in\.json$/.exec(name)?.[1] ?? [])
  it.each(names)('%s', async (name) => {
    const input = JSON.parse(readFileSync(new URL(`${name}.in.json`, testdata), 'utf8')) as Record<string, unknown>
    const plan = planGroup({
      group: nodeGroup.parse(input.group),
      nodes: input.nodes as GroupNode[],
      peers: (input.peers as unknown[]).map((one) => bgpPeer.parse(one)),
      advertisements: (input.advertisements as unknown[]).map((one) => bgpAdvertisement.parse(one)),
      nowMs: Date.parse(input.now as string),
    })
    const output = { ...plan, entries: Object.fromEntries(plan.entries), problems: Object.fromEntries(plan.problems) }
    await expect(`${JSON.stringify(output, null, 2)}\n`).toMatchFileSnapshot(`testdata/${name}.out.json`)
  })
})
