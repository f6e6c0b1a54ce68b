import { canonicalJson, type LoadBalancer, type LoadBalancerEntry, type Pool } from '@spout/model'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PlannedNode } from '../placement/place.ts'
import { id, listener, loadBalancer, member, network, pool } from '../testing/documents.ts'
import { type KnownPools, knownPools } from './known-pools.ts'
import type { LoadBalancerPlan } from './load-balancer-plan.ts'
import type { CertificateOf } from './node-tls.ts'
import { PlacementIndex } from './placement-index.ts'
import { planLoadBalancer } from './plan-load-balancer.ts'

const NODE: PlannedNode = {
  ...{ id: id(0xa01), name: 'n1', scheduling: 'enabled', connection: 'connected', loadBalancers: 0 },
  features: ['l4.tcp', 'l7.tcp-proxy', 'l7.http', 'l7.pool-tls'],
}
const NETWORKS = [network(2), network(3)]
const POOLS = 4
const TLS: Pool['tls'] = {
  ...{ caCertificateId: id(0xc01), clientCertificateId: null, serverName: null, minVersion: '1.2', alpn: [] },
}

interface World {
  readonly loadBalancer: LoadBalancer
  /** The content of the authorities that pools with TLS name. Null: they were deleted. */
  readonly authorities: string | null
}

const membersOf = (at: number) =>
  fc
    .array(
      fc.record({
        number: fc.integer({ min: 1, max: 6 }),
        weight: fc.integer({ min: 0, max: 3 }),
        backup: fc.boolean(),
        enabled: fc.boolean(),
      }),
      { maxLength: 5 },
    )
    .map((all) => new Map(all.map(({ number, ...fields }) => [number, member(0x100 * (at + 1) + number, fields)])))
    .map((all) => [...all.values()])

const pools = Array.from({ length: POOLS }, (_, at) =>
  pool(
    0x2000 + at,
    [1, 2, 3].map((one) => member(0x100 * (at + 1) + one)),
    at === 0 ? { protocol: 'http', tls: TLS } : {},
  ),
)

/** Changes that leave all or most pools the same objects. */
const change: fc.Arbitrary<(world: World) => World> = fc.oneof(
  fc.constant((world: World) => world),
  // An earlier object comes back, over slots that others have left.
  fc.nat(POOLS - 1).map((at) => ({ loadBalancer: one, ...rest }: World) => ({
    ...rest,
    loadBalancer: { ...one, pools: one.pools.with(at, pools[at]!) },
  })),
  fc.nat(POOLS - 1).chain((at) =>
    membersOf(at).map((members) => ({ loadBalancer: one, ...rest }: World) => ({
      ...rest,
      loadBalancer: { ...one, pools: one.pools.with(at, { ...one.pools[at]!, members }) },
    })),
  ),
  fc.constantFrom('tcp', 'tcp-proxy').map((protocol) => ({ loadBalancer: one, ...rest }: World) => ({
    ...rest,
    loadBalancer: { ...one, listeners: one.listeners.map((had) => ({ ...had, protocol })) } as LoadBalancer,
  })),
  fc.constantFrom(...NETWORKS).map((moved) => ({ loadBalancer: one, ...rest }: World) => ({
    ...rest,
    loadBalancer: { ...one, networkId: moved.id },
  })),
  fc.constantFrom('a', 'b', null).map((authorities) => (world: World) => ({ ...world, authorities })),
)

const BEGIN: World = {
  authorities: 'a',
  loadBalancer: loadBalancer(0x1000, {
    pools,
    listeners: pools.map((one, at) => listener(0x3000 + at, 80 + at, { protocol: 'tcp', defaultPoolId: one.id })),
  }),
}

/** Plans one version after the other, as a controller does. */
class Planner {
  readonly #index = new PlacementIndex()
  readonly #known: KnownPools | undefined
  entry: LoadBalancerEntry | null = null

  constructor(known?: KnownPools) {
    this.#known = known
  }

  plan({ loadBalancer: one, authorities }: World): LoadBalancerPlan {
    const certificateOf: CertificateOf = () =>
      authorities === null ? null : { contentId: authorities, names: [], keyType: 'rsa-2048' }
    const planned = planLoadBalancer({
      ...{ loadBalancer: one, certificateOf, connectionLimit: null, gatewayOwnerIds: [] },
      network: NETWORKS.find((known) => known.id === one.networkId) ?? null,
      group: { name: 'default', nodes: [NODE] },
      announcing: { via: 'l2' },
      previous: this.#index.get(one.id),
      ...(this.#known && { entryBefore: this.entry, knownPools: this.#known }),
      freePoolNumber: (after) => this.#index.freePoolNumber(one.networkId!, after),
      now: '2026-01-01T00:00:00.000Z',
    })
    this.#index.put(planned.placement)
    this.entry = planned.entries.get(NODE.id) ?? null
    return planned
  }
}

const text = ({ placement, entries, reason }: LoadBalancerPlan): string =>
  canonicalJson({ placement, reason, entries: [...entries] })

test('whatever changes, plans that reuse those of unchanged pools are the same as plans made anew', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20, size: 'max' }), (changes) => {
      const [keeping, anew] = [new Planner(knownPools()), new Planner()]
      let world = BEGIN
      for (const step of [(same: World) => same, ...changes]) {
        world = step(world)
        expect(text(keeping.plan(world))).toBe(text(anew.plan(world)))
        expect(keeping.entry).not.toBeNull()
      }
    }),
    { numRuns: byLength(100, 1000) },
  )
})

test('a change of one pool plans none of the others, whose plans stay the same objects', () => {
  const planner = new Planner(knownPools())
  const { placement: placed } = planner.plan(BEGIN)
  const had = planner.entry!
  const { loadBalancer: one } = BEGIN
  const changed = { ...one.pools[2]!, members: [member(0x304)] }
  const { placement } = planner.plan({ ...BEGIN, loadBalancer: { ...one, pools: one.pools.with(2, changed) } })
  const isSame = (now: readonly unknown[], before: readonly unknown[]) => now.map((pool, at) => pool === before[at])
  expect(isSame(planner.entry!.pools, had.pools)).toEqual([true, true, false, true])
  expect(isSame(placement.pools, placed.pools)).toEqual([true, true, false, true])
})
