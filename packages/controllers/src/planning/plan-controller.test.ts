import { type LoadBalancerEntry, type Placement, SpoutError } from '@spout/model'
import { MemoryStore, type Store } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, pool, uuid } from '../testing/model.ts'

const N1 = uuid('node', 1)
const N2 = uuid('node', 2)

async function clusterOfTwo(store: Store = new MemoryStore()): Promise<ControlPlane> {
  const plane = await ControlPlane.start(store)
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['node', node(2)], ['network', network(1)])
  await plane.report(N1)
  await plane.report(N2)
  return plane
}

const announces = (plane: ControlPlane, nodeId: string, number: number): boolean =>
  (plane.entry(nodeId, `lb/${uuid('lb', number)}`) as LoadBalancerEntry | null)?.vips.every((vip) => vip.announce) ??
  false

const ownerOf = (plane: ControlPlane, number: number): string | null =>
  plane.view.get('placement', uuid('lb', number))?.value.ownerNodeId ?? null

test('a new load balancer is published to every node of its group with its domain, and one node announces it', async () => {
  const plane = await clusterOfTwo()
  const seen: string[] = []
  plane.nodeStates.onChange(N1, (keys) => seen.push(...keys))
  await plane.put(['loadBalancer', loadBalancer(1)])
  expect(seen).toEqual(['domain/1', `lb/${uuid('lb', 1)}`])
  expect(announces(plane, N1, 1)).toBe(true)
  expect(announces(plane, N2, 1)).toBe(false)
  expect(plane.entry(N2, `lb/${uuid('lb', 1)}`)).not.toBeNull()
  expect(plane.entry(N2, 'domain/1')).toMatchObject({ subnets: [{ cidr: '10.0.0.0/24', nodeAddress: '10.0.0.253' }] })
  expect(ownerOf(plane, 1)).toBe(N1)
  await plane.stop()
})

test.each([1, 600])('two that one commit changes are published together, also with %s members', async (members) => {
  const plane = await clusterOfTwo()
  const pools = [
    pool(
      1,
      Array.from({ length: members }, (_, n) => `10.0.${n >> 8}.${n & 255}`),
    ),
  ]
  await plane.put(['loadBalancer', loadBalancer(1, { pools })], ['loadBalancer', loadBalancer(2)])
  // Like the stream to a node, which writes all waiting keys when it wakes.
  const waiting: string[] = []
  const writes: string[][] = []
  plane.nodeStates.onChange(N1, (keys) => {
    if (waiting.length === 0) void Promise.resolve().then(() => writes.push(waiting.splice(0)))
    waiting.push(...keys)
  })
  const changes = [loadBalancer(1, { pools, enabled: false }), loadBalancer(2, { enabled: false })]
  await plane.put(...changes.map((one) => ['loadBalancer', one] as const))
  expect(writes).toEqual([changes.map(({ id }) => `lb/${id}`)])
  await plane.stop()
})

test('the second is placed on the node with fewer, and a deleted one leaves nothing behind', async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.put(['loadBalancer', loadBalancer(2)])
  expect([ownerOf(plane, 1), ownerOf(plane, 2)]).toEqual([N1, N2])
  const seen: string[] = []
  await plane.delete('loadBalancer', uuid('lb', 1))
  plane.nodeStates.onChange(N1, (keys) => seen.push(...keys))
  await plane.delete('loadBalancer', uuid('lb', 2))
  expect(seen).toEqual([`lb/${uuid('lb', 2)}`, 'domain/1'])
  expect(plane.published([N1, N2])).toEqual({ [N1]: {}, [N2]: {} })
  expect((await plane.store.list('placement')).items).toEqual([])
  await plane.stop()
})

test('a change that nodes do not see is neither written nor published', async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)])
  const revision = plane.view.get('placement', uuid('lb', 1))?.revision
  const seen: string[] = []
  plane.nodeStates.onChange(N1, (keys) => seen.push(...keys))
  await plane.put(['loadBalancer', loadBalancer(1, { name: 'renamed', tags: ['a'] })])
  expect(seen).toEqual([])
  expect(plane.view.get('placement', uuid('lb', 1))?.revision).toBe(revision)
  await plane.stop()
})

test("a lost node's load balancers move, and do not move back when it returns", async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)], ['loadBalancer', loadBalancer(2)])
  const lost = ownerOf(plane, 1) === N1 ? N1 : N2
  const other = lost === N1 ? N2 : N1
  for (let second = 0; second < 4; second++) {
    await plane.clock.advance(1000)
    await plane.report(other)
  }
  expect(ownerOf(plane, 1)).toBe(lost)
  await plane.clock.advance(1100)
  await plane.report(other)
  expect([ownerOf(plane, 1), ownerOf(plane, 2)]).toEqual([other, other])
  expect(announces(plane, lost, 1)).toBe(false)
  expect(plane.entry(lost, `lb/${uuid('lb', 1)}`)).not.toBeNull()
  await plane.report(lost)
  expect(ownerOf(plane, 1)).toBe(other)
  await plane.stop()
})

test('a node without the fabric interface of its group announces nothing, and takes part once it has it', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  const fabric = { interface: 'edge0' }
  await plane.put(['nodeGroup', nodeGroup(1, 'edge', { fabric })], ['network', network(1)])
  await plane.put(['node', node(1)], ['node', node(2)])
  const [without, withIt] = [['l4.tcp'], ['fabric-of-group', 'l4.tcp']]
  await plane.report(N1, { features: withIt })
  await plane.report(N2, { features: without })
  const lacking = () => [N1, N2].filter((id) => plane.status.node(id).problems[0]?.code === 'FabricMissing')
  for (const number of [1, 2]) await plane.put(['loadBalancer', loadBalancer(number)])
  expect([ownerOf(plane, 1), ownerOf(plane, 2), ...lacking()]).toEqual([N1, N1, N2])
  expect(plane.entry(N2, 'group')).toMatchObject({ fabric, vrrp: null, bgp: null })
  await plane.report(N2, { features: withIt })
  expect(lacking()).toEqual([])
  await plane.report(N1, { features: without })
  expect([ownerOf(plane, 1), ownerOf(plane, 2), ...lacking()]).toEqual([N2, N2, N1])
  await plane.stop()
})

test('with no node left the owner stays, and the first to return takes over once it does not see the owner', async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.clock.advance(20_000)
  await plane.idle()
  expect(ownerOf(plane, 1)).toBe(N1)
  await plane.report(N2)
  expect(ownerOf(plane, 1)).toBe(N1)
  await plane.sees(N2, false)
  expect(ownerOf(plane, 1)).toBe(N2)
  await plane.stop()
})

test('a draining node hands over; a deleted one has no entries', async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.put(['node', node(1, { scheduling: 'draining' })])
  expect(ownerOf(plane, 1)).toBe(N2)
  await plane.delete('node', N1)
  expect(plane.published([N1])).toEqual({ [N1]: {} })
  await plane.stop()
})

test('what a placement says of its group is planned again when the group says something else', async () => {
  const plane = await clusterOfTwo()
  const reason = () => plane.view.get('placement', uuid('lb', 1))?.value.reason
  for (const number of [1, 2]) await plane.put(['node', node(number, { scheduling: 'cordoned' })])
  await plane.put(['loadBalancer', loadBalancer(1)])
  expect(reason()?.message).toBe('Every connected node of group `default` is cordoned or draining.')
  await plane.put(['nodeGroup', nodeGroup(1, 'edge')])
  expect(reason()?.message).toBe('Every connected node of group `edge` is cordoned or draining.')
  await plane.stop()
})

test('why a node keeps what it should be rid of is planned again when nodes change', async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)])
  const code = () => plane.view.get('placement', uuid('lb', 1))?.value.reason.code
  await plane.put(['node', node(2, { scheduling: 'cordoned' })])
  await plane.put(['node', node(1, { scheduling: 'draining' })])
  expect([ownerOf(plane, 1), code()]).toEqual([N1, 'NoOtherNode'])
  await plane.put(['node', node(1)])
  expect([ownerOf(plane, 1), code()]).toEqual([N1, 'Placed'])
  await plane.stop()
})

test('an added node gets all entries of its group', async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.put(['node', node(3)])
  expect(Object.keys(plane.published([uuid('node', 3)])[uuid('node', 3)] ?? {})).toEqual([
    'domain/1',
    `lb/${uuid('lb', 1)}`,
  ])
  await plane.stop()
})

test("with return path gateway a network's load balancers are on the node with its gateway", async () => {
  const plane = await clusterOfTwo()
  await plane.put(['network', network(1, { returnPath: 'gateway' })])
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.put(['loadBalancer', loadBalancer(2)])
  expect([ownerOf(plane, 1), ownerOf(plane, 2)]).toEqual([N1, N1])
  expect([plane.entry(N1, 'domain/1'), plane.entry(N2, 'domain/1')]).toMatchObject([
    { gateway: { via: 'l2' } },
    { gateway: null },
  ])
  await plane.put(['node', node(1, { scheduling: 'draining' })])
  expect([ownerOf(plane, 1), ownerOf(plane, 2)]).toEqual([N2, N2])
  expect([plane.entry(N1, 'domain/1'), plane.entry(N2, 'domain/1')]).toMatchObject([
    { gateway: null },
    { gateway: { via: 'l2' } },
  ])
  await plane.stop()
})

test('a restart plans the same bytes and writes nothing', async () => {
  const store = new MemoryStore()
  const plane = await clusterOfTwo(store)
  for (let number = 1; number <= 20; number++) await plane.put(['loadBalancer', loadBalancer(number)])
  await plane.put(['loadBalancer', loadBalancer(3, { generation: 2, pools: [pool(3, ['10.0.0.12', '10.0.0.13'])] })])
  const before = plane.published([N1, N2])
  await plane.stop()
  const revision = await store.revision()
  const again = await ControlPlane.start(store)
  expect(again.nodeStates.ready()).toBe(true)
  expect(again.published([N1, N2])).toEqual(before)
  await again.report(N1)
  await again.report(N2)
  expect(again.published([N1, N2])).toEqual(before)
  expect(await store.revision()).toBe(revision)
  await again.stop()
})

test('nothing is published before it is stored, and a failing store is retried', async () => {
  const store = new MemoryStore()
  let refuse = false
  const commit = store.commit.bind(store)
  store.commit = async (writes) => {
    if (refuse && writes.some((write) => write.kind === 'placement'))
      throw new SpoutError('StoreUnavailable', { reason: 'no space left on device' })
    return commit(writes)
  }
  const plane = await clusterOfTwo(store)
  refuse = true
  const { revision } = await commit([
    { op: 'put', kind: 'loadBalancer', id: uuid('lb', 1), scope: null, value: loadBalancer(1) },
  ])
  await plane.view.caughtUp(revision)
  await plane.clock.advance(10)
  expect(plane.entry(N1, `lb/${uuid('lb', 1)}`)).toBeNull()
  refuse = false
  await plane.clock.advance(1000)
  await plane.idle()
  expect(plane.entry(N1, `lb/${uuid('lb', 1)}`)).not.toBeNull()
  await plane.stop()
})

test('a placement that another writer stored counts', async () => {
  const plane = await clusterOfTwo()
  await plane.put(['loadBalancer', loadBalancer(1)])
  const placed: Placement = { ...plane.view.get('placement', uuid('lb', 1))!.value, ownerNodeId: N2 }
  await plane.put(['placement', placed])
  const { revision } = await plane.store.commit([
    {
      op: 'put',
      kind: 'loadBalancer',
      id: uuid('lb', 1),
      scope: null,
      value: loadBalancer(1, { generation: 2, pools: [pool(1, ['10.0.0.13'])] }),
    },
  ])
  await plane.view.caughtUp(revision)
  await plane.clock.advance(1000)
  await plane.idle()
  expect(ownerOf(plane, 1)).toBe(N2)
  expect(announces(plane, N2, 1)).toBe(true)
  await plane.stop()
})
