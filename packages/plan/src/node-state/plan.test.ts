import { readdirSync, readFileSync } from 'node:fs'
import { canonicalJson, KINDS, type LoadBalancer, type LoadBalancerEntry } from '@spout/model'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PlannedNode } from '../placement/place.ts'
import { id, listener, loadBalancer, member, network, pool } from '../testing/documents.ts'
import type { Announcing } from './announcing-in.ts'
import type { LoadBalancerPlan, LoadBalancerPlanInput } from './load-balancer-plan.ts'
import { PlacementIndex } from './placement-index.ts'
import { planDomain } from './plan-domain.ts'
import { planLoadBalancer } from './plan-load-balancer.ts'

const RUNS = byLength(30, 100)

const NOW = '2026-01-01T00:00:00.000Z'
const FEATURES = ['l4.tcp', 'l4.udp', 'l7.http']
const NETWORKS = [network(2), network(3, { returnPath: 'gateway' })]

const node = (number: number, fields: Partial<PlannedNode> = {}): PlannedNode => ({
  id: id(0xa00 + number),
  name: `n${number}`,
  scheduling: 'enabled',
  connection: 'connected',
  features: FEATURES,
  loadBalancers: 0,
  ...fields,
})

/** Plans one load balancer into the index, as a controller does. */
function plan(
  index: PlacementIndex,
  one: LoadBalancer,
  nodes: readonly PlannedNode[],
  entryBefore: LoadBalancerEntry | null = null,
): LoadBalancerPlan {
  const { networkId } = one
  const planned = planLoadBalancer({
    loadBalancer: one,
    connectionLimit: null,
    certificateOf: () => null,
    network: NETWORKS.find((known) => known.id === networkId) ?? null,
    group: { name: 'default', nodes: nodes.map((known) => ({ ...known, loadBalancers: index.ownedBy(known.id) })) },
    announcing: { via: 'l2' },
    previous: index.get(one.id),
    entryBefore,
    gatewayOwnerIds: networkId === null ? [] : index.gatewayOwners(networkId),
    freePoolNumber: (after) => (networkId === null ? null : index.freePoolNumber(networkId, after)),
    now: NOW,
  })
  index.put(planned.placement)
  return planned
}

const planAll = (index: PlacementIndex, all: readonly LoadBalancer[], nodes: readonly PlannedNode[]) =>
  all.map((one) => plan(index, one, nodes))
const text = (plans: readonly LoadBalancerPlan[]): string =>
  canonicalJson(plans.map(({ placement, entries, reason }) => ({ placement, reason, entries: [...entries] })))

/** Load balancers of two networks with up to three L4 pools of up to five members; ids do not collide. */
const loadBalancers = (networkIds: readonly string[]): fc.Arbitrary<LoadBalancer[]> =>
  fc
    .array(
      fc.record({
        networkId: fc.constantFrom(...networkIds),
        memberCounts: fc.array(fc.nat(5), { maxLength: 3 }),
        enabled: fc.boolean(),
        http: fc.boolean(),
      }),
      { maxLength: 8 },
    )
    .map((shapes) =>
      shapes.map(({ networkId, memberCounts, enabled, http }, at) => {
        const base = 0x1000 * (at + 1)
        const pools = memberCounts.map((count, index) =>
          pool(
            base + 0x100 * (index + 1),
            Array.from({ length: count }, (_, one) => member(base + 0x100 * (index + 1) + one + 1)),
            http ? { protocol: 'http' } : {},
          ),
        )
        const protocol = http ? 'http' : 'tcp'
        const listeners = pools.map((one, index) =>
          listener(base + index + 1, 80 + index, { defaultPoolId: one.id, protocol }),
        )
        return loadBalancer(base, { networkId, enabled, pools, listeners })
      }),
    )

const worlds = loadBalancers(NETWORKS.map((one) => one.id))
const THREE = [node(1), node(2), node(3)]

describe('planLoadBalancer', () => {
  it('gives the same bytes for the same input, and changes nothing when nothing changed', () => {
    fc.assert(
      fc.property(worlds, (all) => {
        const index = new PlacementIndex()
        const first = planAll(index, all, THREE)
        expect(text(planAll(new PlacementIndex(), all, THREE))).toBe(text(first))
        const again = planAll(index, [...all].reverse(), THREE).reverse()
        expect(text(again)).toBe(text(first))
        again.forEach((planned, at) => {
          expect(planned.placement).toBe(first[at]!.placement)
        })
      }),
      { numRuns: RUNS },
    )
  })

  it('reuses the objects of unchanged members, with the same bytes', () => {
    const members = Array.from({ length: 100 }, (_, at) => member(0x2000 + at))
    const before = loadBalancer(0x1000, { networkId: NETWORKS[0]!.id, pools: [pool(0x1100, members)] })
    const changed = members.toSpliced(7, 1).with(50, { ...members[51]!, weight: 9 })
    const after = { ...before, generation: 2, pools: [pool(0x1100, [...changed, member(0x3000)])] }
    const [index, other] = [new PlacementIndex(), new PlacementIndex()]
    const entryOf = ({ entries }: LoadBalancerPlan) => entries.get(node(1).id)!
    const had = entryOf(plan(index, before, [node(1)]))
    plan(other, before, [node(1)])
    const [now, anew] = [plan(index, after, [node(1)], had), plan(other, after, [node(1)])]
    expect(text([now])).toBe(text([anew]))
    const kept = new Set(had.pools[0]!.members)
    expect(entryOf(now).pools[0]!.members.filter((one) => kept.has(one))).toHaveLength(98)
  })

  it('gives the same result through changes as at once', () => {
    fc.assert(
      fc.property(worlds, fc.nat(), (all, pick) => {
        const index = new PlacementIndex()
        const cut = all.length === 0 ? 0 : pick % all.length
        const before = planAll(index, all.slice(0, cut), THREE)
        const after = planAll(index, all.slice(cut), THREE)
        expect(text([...before, ...after])).toBe(text(planAll(new PlacementIndex(), all, THREE)))
      }),
      { numRuns: RUNS },
    )
  })

  it('is not affected by an invalid other object', () => {
    const impossible = [
      loadBalancer(0xf000, { networkId: null }),
      loadBalancer(0xf001, { networkId: id(0xdead) }),
      loadBalancer(0xf002, { listeners: [listener(0xf003, 80, { protocol: 'tcp-proxy' })] }),
    ]
    fc.assert(
      fc.property(worlds, fc.nat(), fc.constantFrom(...impossible), (all, pick, bad) => {
        const at = pick % (all.length + 1)
        const plans = planAll(new PlacementIndex(), [...all.slice(0, at), bad, ...all.slice(at)], THREE)
        expect(plans[at]!.entries.size).toBe(0)
        expect(['NoNetwork', 'FeatureUnavailable']).toContain(plans[at]!.reason.code)
        expect(text(plans.toSpliced(at, 1))).toBe(text(planAll(new PlacementIndex(), all, THREE)))
      }),
      { numRuns: RUNS },
    )
  })

  it('gives every node the same data plane and lets exactly one announce', () => {
    fc.assert(
      fc.property(worlds, (all) => {
        for (const [at, planned] of planAll(new PlacementIndex(), all, THREE).entries()) {
          expect([...planned.entries.keys()]).toEqual(THREE.map((one) => one.id))
          const announcing = THREE.filter(({ id: key }) => planned.entries.get(key)!.vips.some((vip) => vip.announce))
          expect(announcing.map((one) => one.id)).toEqual(all[at]!.enabled ? [planned.placement.ownerNodeId] : [])
          const mute = [...planned.entries.values()].map(({ vips: _vips, ...rest }) => canonicalJson(rest))
          expect(new Set(mute).size).toBe(1)
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('makes placements that fit the model', () => {
    fc.assert(
      fc.property(worlds, (all) => {
        for (const { placement } of planAll(new PlacementIndex(), all, THREE))
          expect(KINDS.placement.parse(placement)).toEqual(placement)
      }),
      { numRuns: RUNS },
    )
  })

  it('gives pools lasting numbers that are unique in their network', () => {
    fc.assert(
      fc.property(worlds, fc.nat(), (all, pick) => {
        const index = new PlacementIndex()
        planAll(index, all, THREE)
        const leaver = all[pick % Math.max(1, all.length)]
        const freed = leaver ? new Set(index.get(leaver.id)!.pools.map(({ number }) => number)) : new Set<number>()
        if (leaver) index.remove(leaver.id)
        const extra = loadBalancer(0xe000, { networkId: leaver?.networkId ?? id(2), pools: [pool(0xe001, [])] })
        const plans = planAll(index, [...all.filter((one) => one !== leaver), extra], THREE)
        for (const { id: networkId } of NETWORKS) {
          const numbers = plans.flatMap(({ placement }) =>
            placement.networkId === networkId ? placement.pools.map(({ number }) => number) : [],
          )
          expect(new Set(numbers).size).toBe(numbers.length)
        }
        expect(freed.has(plans.at(-1)!.placement.pools[0]!.number)).toBe(false)
      }),
      { numRuns: RUNS },
    )
  })

  it('keeps all load balancers of a gateway network on one node, even when it is lost', () => {
    const index = new PlacementIndex()
    const all = Array.from({ length: 6 }, (_, at) => loadBalancer(0x100 + at, { networkId: id(3) }))
    const owners = (nodes: readonly PlannedNode[]) =>
      new Set(planAll(index, all, nodes).map(({ placement }) => placement.ownerNodeId))
    expect(owners(THREE)).toEqual(new Set([id(0xa01)]))
    expect(plan(index, all[0]!, THREE).reason.message).toContain("holds the members' gateway")
    expect(owners([node(1, { connection: 'lost' }), node(2), node(3)]).size).toBe(1)
    expect(owners(THREE)).toEqual(new Set([id(0xa02)]))
    expect(owners([node(1), node(3)])).toEqual(new Set([id(0xa01)]))
  })

  it('spreads load balancers of other networks', () => {
    const all = Array.from({ length: 6 }, (_, at) => loadBalancer(0x100 + at))
    const index = new PlacementIndex()
    planAll(index, all, THREE)
    expect(THREE.map((one) => index.ownedBy(one.id))).toEqual([2, 2, 2])
  })

  it('keeps the slots of members that stay', () => {
    const index = new PlacementIndex()
    const members = [1, 2, 3].map((one) => member(one))
    const served = (one: LoadBalancer) => plan(index, one, THREE).placement.pools[0]!
    const before = served(loadBalancer(0x100, { pools: [pool(0x200, members)] }))
    const after = served(
      loadBalancer(0x100, { pools: [pool(0x200, [members[0]!, { ...members[1]!, enabled: false }, members[2]!])] }),
    )
    expect(after.number).toBe(before.number)
    expect(before.members).toEqual([id(1), id(2), id(3)])
    expect(after.members).toEqual([id(1), null, id(3)])
  })
})

/** The same in a group whose nodes settle ownership by shard. */
function planSharded(
  index: PlacementIndex,
  one: LoadBalancer,
  nodes: readonly PlannedNode[],
  shards = 4,
): LoadBalancerPlan {
  const { networkId } = one
  const planned = planLoadBalancer({
    loadBalancer: one,
    connectionLimit: null,
    certificateOf: () => null,
    network: NETWORKS.find((known) => known.id === networkId) ?? null,
    group: { name: 'default', nodes },
    announcing: {
      via: 'vrrp',
      groupId: id(0xe01),
      shards,
      networkShard: networkId === null ? null : index.shardOf(networkId, id(0xe01)),
      networkSince: networkId === null ? null : index.carriedSince(networkId, id(0xe01)),
      freestShard: index.freestShard(id(0xe01), shards),
    },
    previous: index.get(one.id),
    gatewayOwnerIds: [],
    freePoolNumber: (after) => (networkId === null ? null : index.freePoolNumber(networkId, after)),
    now: NOW,
  })
  index.put(planned.placement)
  return planned
}
const shardsOf = ({ entries }: LoadBalancerPlan): ReadonlySet<unknown> =>
  new Set(
    [...entries.values()].flatMap((entry) =>
      entry.vips.map(({ announce }) => (announce?.via === 'vrrp' ? announce.shard : null)),
    ),
  )

describe('shards', () => {
  it('every VIP has exactly one shard, that of its network, whatever happens to the nodes', () => {
    fc.assert(
      fc.property(worlds, fc.integer({ min: 1, max: 16 }), (all, shards) => {
        const index = new PlacementIndex()
        const enabled = all.map((one) => ({ ...one, enabled: true }))
        const byNetwork = new Map<string | null, unknown>()
        for (const one of enabled) {
          const [shard, ...others] = shardsOf(planSharded(index, one, THREE, shards))
          expect(others).toEqual([])
          expect(shard).toBeGreaterThanOrEqual(1)
          expect(shard).toBeLessThanOrEqual(shards)
          expect(byNetwork.get(one.networkId) ?? shard).toBe(shard)
          byNetwork.set(one.networkId, shard)
          expect(index.gatewayShard(one.networkId!)).toEqual({ groupId: id(0xe01), number: shard })
        }
      }),
      { numRuns: RUNS },
    )
  })

  it('removing, losing or draining a node changes no entry of other nodes and no placement', () => {
    const change = fc.constantFrom<readonly PlannedNode[]>(
      [node(1), node(2)],
      [node(1), node(2), node(3, { connection: 'lost' })],
      [node(1), node(2), node(3, { scheduling: 'draining' })],
    )
    fc.assert(
      fc.property(worlds, change, (all, nodes) => {
        const index = new PlacementIndex()
        const before = all.map((one) => planSharded(index, one, THREE))
        all.forEach((one, at) => {
          const after = planSharded(index, one, nodes)
          expect(after.placement).toBe(before[at]!.placement)
          for (const [nodeId, entry] of after.entries)
            expect(canonicalJson(entry)).toBe(canonicalJson(before[at]!.entries.get(nodeId)))
        })
      }),
      { numRuns: RUNS },
    )
  })

  it('networks are spread over shards, and move only out of removed shards', () => {
    const index = new PlacementIndex()
    const one = loadBalancer(0x100)
    const other = loadBalancer(0x101, { networkId: id(3) })
    const shard = (which: LoadBalancer, shards: number) =>
      planSharded(index, which, THREE, shards).placement.shard?.number
    expect([shard(one, 4), shard(other, 4)]).toEqual([1, 2])
    expect([shard(one, 16), shard(other, 16)]).toEqual([1, 2])
    expect([shard(one, 1), shard(other, 1)]).toEqual([1, 1])
    expect([shard(one, 4), shard(other, 4)]).toEqual([1, 1])
    index.remove(one.id)
    index.remove(other.id)
    expect([index.shardOf(id(2), id(0xe01)), index.gatewayShard(id(3))]).toEqual([null, null])
    expect(index.freestShard(id(0xe01), 4)).toBe(1)
  })

  it('refuses features that no node has, and keeps refusing until a node reports', () => {
    const index = new PlacementIndex()
    const http = loadBalancer(0x100, { listeners: [listener(1, 80, { protocol: 'tcp-proxy' })] })
    const refused = planSharded(index, http, THREE)
    expect(refused.reason).toMatchObject({ code: 'FeatureUnavailable' })
    expect(refused.entries.size).toBe(0)
    const silent = planSharded(index, http, [node(1, { features: [] })])
    expect(silent.placement).toBe(refused.placement)
    expect(planSharded(index, http, [node(1, { features: ['l7.tcp-proxy'] })]).reason.code).toBe('Placed')
    expect(planSharded(index, http, []).reason.code).toBe('NoNodeAvailable')
  })
})

const testdata = new URL('testdata/', import.meta.url)
type GoldenInput = Omit<LoadBalancerPlanInput, 'freePoolNumber' | 'announcing'> & {
  readonly announcing?: Announcing
  readonly nodeAddresses: Record<string, string>
}

describe('golden plans', () => {
  const names = readdirSync(testdata).flatMap((name) => /^(.+)\.in\.json$/.exec(name)?.[1] ?? [])
  it.each(names)('%s', async (name) => {
    const read = JSON.parse(readFileSync(new URL(`${name}.in.json`, testdata), 'utf8')) as GoldenInput
    const input = { ...read, network: read.network && { ...read.network, routes: read.network.routes ?? [] } }
    const announcing = input.announcing ?? { via: 'l2' }
    const planned = planLoadBalancer({
      ...input,
      announcing,
      connectionLimit: null,
      freePoolNumber: (after) => after + 1,
    })
    const { shard } = planned.placement
    const domain =
      input.network &&
      planDomain(
        input.network,
        new Map(Object.entries(input.nodeAddresses)),
        shard !== null ? { via: 'vrrp', shard: shard.number } : planned.reason.code === 'Placed' ? { via: 'l2' } : null,
      )
    const output = { placement: planned.placement, entries: Object.fromEntries(planned.entries), domain }
    await expect(`${JSON.stringify(output, null, 2)}\n`).toMatchFileSnapshot(`testdata/${name}.out.json`)
  })
})
