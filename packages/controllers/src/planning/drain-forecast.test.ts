import { type DrainPreview, type GroupEntry, KINDS, type Kind, type LoadBalancer, type NodeReport } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { byLength } from '@spout/testkit/long-tests'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid, vrrpGroup } from '../testing/model.ts'

const DRAINED = uuid('node', 1)
const SHARDS = [1, 2, 3]
const L4 = ['l4.tcp', 'l4.udp', 'dsr', 'l4.member-nodes'] as const
const EVERYTHING = [...L4, 'l7.http'] as const

const drawn = fc.record({
  nodes: fc.array(
    fc.record({
      scheduling: fc.constantFrom('enabled', 'enabled', 'enabled', 'cordoned', 'draining'),
      features: fc.constantFrom(EVERYTHING, EVERYTHING, L4),
      // A node that has just started takes part in no shard.
      takesPart: fc.boolean(),
      isSilent: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  networks: fc.array(fc.constantFrom('snat', 'gateway', 'dsr', 'node'), { minLength: 3, maxLength: 3 }),
  balancers: fc.array(
    fc.record({ network: fc.integer({ min: 1, max: 3 }), protocol: fc.constantFrom('tcp', 'udp', 'http') }),
    { minLength: 1, maxLength: 9 },
  ),
  masters: fc.array(fc.nat(), { minLength: 3, maxLength: 3 }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const balancerOf = ({ network, protocol }: Drawn['balancers'][number], at: number): LoadBalancer => {
  const one = loadBalancer(at + 1, { network })
  return {
    ...one,
    listeners: one.listeners.map((listener) => ({ ...listener, protocol })),
    pools: one.pools.map((pool) => ({ ...pool, protocol })),
  }
}

/** Nodes with load balancers, spread while all are in use; then some are taken out of use, or silent. */
async function opened(given: Drawn, group: typeof nodeGroup | typeof vrrpGroup) {
  const plane = await ControlPlane.start(new MemoryStore())
  const ids = given.nodes.map((_, at) => uuid('node', at + 1))
  await plane.put(['nodeGroup', group === vrrpGroup ? vrrpGroup(1, SHARDS.length) : nodeGroup(1)])
  await plane.put(...ids.map((_, at) => ['node', node(at + 1)] as const))
  await plane.put(...given.networks.map((returnPath, at) => ['network', network(at + 1, { returnPath })] as const))
  const reportOf = (at: number): Partial<NodeReport> => ({
    features: given.nodes[at]?.features ?? [],
    shards: SHARDS.map((number) => {
      const isMaster = (given.masters[number - 1] ?? 0) % ids.length === at
      const state = isMaster ? 'master' : given.nodes[at]?.takesPart ? 'backup' : 'fault'
      return { number, state, since: '2026-01-01T00:00:00.000Z', takeovers: 0, lastMove: null }
    }),
  })
  const report = async (isSilent: (at: number) => boolean = () => false): Promise<void> => {
    for (const [at, id] of ids.entries()) if (!isSilent(at)) await plane.confirmAll(id, reportOf(at))
  }
  await report()
  for (const [at, one] of given.balancers.entries()) await plane.create(balancerOf(one, at))
  for (const [at, id] of ids.entries())
    if (at > 0) await plane.admission.setNodeScheduling(id, given.nodes[at]?.scheduling ?? 'enabled')
  await plane.idle()
  const isSilent = (at: number): boolean => at > 0 && given.nodes[at]?.isSilent === true
  await plane.clock.advance(3500)
  await report(isSilent)
  return { plane, ids, report: () => report(isSilent) }
}

/** Everything that is stored, and what nodes have. */
const everything = async (plane: ControlPlane, ids: readonly string[]): Promise<string> =>
  JSON.stringify([
    ...(await Promise.all((Object.keys(KINDS) as Kind[]).map(async (kind) => (await plane.store.list(kind)).items))),
    plane.published(ids),
  ])

/** The addresses that the node announces without an election, by load balancer. */
function announcedBy(plane: ControlPlane, nodeId: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const { entry } of plane.nodeStates.entries(nodeId))
    if (entry.kind === 'load-balancer') {
      const own = entry.vips.filter(({ announce }) => announce !== null).map(({ address }) => address)
      if (own.length > 0) found.set(entry.id, own)
    }
  return found
}

/** By the node that takes them, or none: the addresses. */
const saidOf = ({ moves }: DrainPreview) =>
  Object.fromEntries(
    [...Map.groupBy(moves, ({ to }) => to?.id ?? 'none')].map(([to, some]) => [
      to,
      some.flatMap(({ addresses }) => addresses).sort(),
    ]),
  )

test('where the planner chooses the owners, a drain moves what its preview said, to the nodes that it said', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, (given) => expectMoves(given)),
    { numRuns: byLength(25, 400) },
  )
})

test('so it is with more load balancers than are planned at once, whose projects take turns', () => {
  const nodes = [1, 2, 3, 4].map(() => ({
    ...({ scheduling: 'enabled', features: EVERYTHING, takesPart: true, isSilent: false } as const),
  }))
  const balancers = Array.from({ length: 400 }, (_, at) => ({
    network: at % 7 === 0 ? 2 : at % 5 === 0 ? 3 : 1,
    protocol: 'tcp' as const,
  }))
  return expectMoves({ nodes, networks: ['snat', 'dsr', 'node'], balancers, masters: [0, 0, 0] })
})

/** That a drain moves what its preview says, to the nodes that it says. */
async function expectMoves(given: Drawn): Promise<void> {
  const { plane, ids } = await opened(given, nodeGroup)
  const before = await everything(plane, ids)
  const announced = announcedBy(plane, DRAINED)
  const said = plane.plans.forecastDrain(DRAINED)
  await plane.idle()
  expect(await everything(plane, ids)).toBe(before)
  expect(said.loadBalancers).toBe(announced.size)
  await plane.admission.setNodeScheduling(DRAINED, 'draining')
  await plane.idle()
  const became: Record<string, string[]> = {}
  for (const [id, addresses] of announced) {
    const owner = plane.view.get('placement', id)?.value.ownerNodeId
    const to = owner === DRAINED || owner == null ? 'none' : owner
    became[to] = [...(became[to] ?? []), ...addresses].sort()
  }
  expect(saidOf(said)).toEqual(became)
  // What is left to move is what stays.
  expect(plane.plans.forecastDrain(DRAINED).moves.every(({ how }) => how === 'stay')).toBe(true)
  await plane.stop()
}

test('where nodes elect masters, a drained node yields if its preview said so, and who comes next is who it said', async () => {
  await fc.assert(
    fc.asyncProperty(drawn, async (given) => {
      const { plane, ids, report } = await opened(given, vrrpGroup)
      const before = await everything(plane, ids)
      const said = plane.plans.forecastDrain(DRAINED)
      await plane.idle()
      expect(await everything(plane, ids)).toBe(before)
      await plane.admission.setNodeScheduling(DRAINED, 'draining')
      await plane.idle()
      await report()
      const waits = plane.status.node(DRAINED).problems.some(({ code }) => code === 'DrainWaits')
      expect(said.waitsFor.unready.length + said.waitsFor.unheard.length > 0).toBe(waits)
      const entryOf = (id: string) => (plane.entry(id, 'group') as GroupEntry | null)?.vrrp ?? null
      const owned = SHARDS.filter((number) => (given.masters[number - 1] ?? 0) % ids.length === 0)
      expect(said.moves.map(({ shard }) => shard)).toEqual(owned)
      if (!waits)
        for (const { shard, how, to } of said.moves) {
          expect(entryOf(DRAINED)?.yield).toBe(how === 'shard')
          const candidates = ids.flatMap((id) => {
            const part = plane.status.node(id).connection === 'connected' ? entryOf(id) : null
            const own = part?.shards.find(({ number }) => number === shard)
            return own === undefined || part?.yield !== false || id === DRAINED ? [] : [{ id, own: own.priority }]
          })
          const first = candidates.toSorted((a, b) => b.own - a.own)[0]?.id ?? null
          expect(to?.id ?? null).toBe(how === 'shard' ? first : null)
        }
      await plane.stop()
    }),
    { numRuns: byLength(25, 400) },
  )
})

test('in a group of routers the others announce already what no shard has; what is in a shard moves', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  const bgp = { localAs: 64_512, policy: 'always', drainSeconds: 10 } as const
  await plane.put(['nodeGroup', vrrpGroup(1, 1, { announcer: 'bgp', bgp })], ['node', node(1)], ['node', node(2)])
  await plane.put(['network', network(1, { returnPath: 'dsr' })], ['network', network(2, { returnPath: 'gateway' })])
  const shards = (state: 'master' | 'backup'): Partial<NodeReport> => ({
    features: [...EVERYTHING],
    shards: [{ number: 1, state, since: '2026-01-01T00:00:00.000Z', takeovers: 0, lastMove: null }],
  })
  await plane.confirmAll(DRAINED, shards('master'))
  await plane.confirmAll(uuid('node', 2), shards('backup'))
  await plane.create(balancerOf({ network: 1, protocol: 'tcp' }, 0))
  await plane.create(balancerOf({ network: 2, protocol: 'tcp' }, 1))
  expect(plane.plans.forecastDrain(DRAINED)).toMatchObject({
    waitsFor: { unready: [], unheard: [] },
    loadBalancers: 2,
    moves: [
      { how: 'shard', shard: 1, to: { name: 'n2' }, loadBalancers: 1, addressCount: 1 },
      { how: 'routers', shard: null, to: null, loadBalancers: 1, addressCount: 1 },
    ],
    connections: [{ code: 'NoState' }, { code: 'ThroughGateway' }],
  })
  await plane.stop()
})

test('a node alone keeps everything, and none of its connections end', async () => {
  for (const group of [nodeGroup(1), vrrpGroup(1, 1)]) {
    const plane = await ControlPlane.start(new MemoryStore())
    await plane.put(['nodeGroup', group], ['node', node(1)], ['network', network(1)])
    await plane.confirmAll(DRAINED, {
      shards: [{ number: 1, state: 'master', since: '2026-01-01T00:00:00.000Z', takeovers: 0, lastMove: null }],
    })
    await plane.create(loadBalancer(1))
    expect(plane.plans.forecastDrain(DRAINED)).toMatchObject({
      hasSuccessor: false,
      loadBalancers: 1,
      moves: [{ how: 'stay', to: null, loadBalancers: 1 }],
      connections: [],
    })
    await plane.stop()
  }
})
