import {
  type BgpSessionReport,
  bgpPeer,
  type DomainEntry,
  type GroupEntry,
  type LoadBalancer,
  type NodeReport,
} from '@spout/model'
import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid, vrrpGroup } from '../testing/model.ts'

const [N1, N2, N3] = [1, 2, 3].map((number) => uuid('node', number)) as [string, string, string]
const GROUP = uuid('group', 1)

const NOW = '2026-01-01T00:00:00.000Z'
const BGP = { localAs: 64_512, policy: 'always', drainSeconds: 10 } as const
const ROUTER = bgpPeer.parse({
  ...{ id: uuid('other', 1), name: 'tor', description: '', createdAt: NOW, updatedAt: null },
  ...{ address: '192.0.2.254', as: 64_513 },
})

async function cluster(group = vrrpGroup(1)): Promise<ControlPlane> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', group], ['node', node(1)], ['node', node(2)], ['node', node(3)])
  for (const id of [N1, N2, N3]) await plane.confirmAll(id)
  return plane
}

const groupOf = (plane: ControlPlane, nodeId: string) => plane.entry(nodeId, 'group') as GroupEntry | null
const yields = (plane: ControlPlane, nodeId: string) => groupOf(plane, nodeId)?.vrrp?.yield

async function schedule(plane: ControlPlane, nodeId: string, scheduling: 'enabled' | 'draining'): Promise<void> {
  await plane.admission.setNodeScheduling(nodeId, scheduling)
  await plane.idle()
}

test('a drain begins when the other nodes confirmed that they know of it', async () => {
  const plane = await cluster()
  await schedule(plane, N1, 'draining')
  expect(groupOf(plane, N2)?.secondChance).toMatchObject({ first: '192.0.2.1' })
  expect(yields(plane, N1)).toBe(false)
  await plane.confirmAll(N2)
  expect(yields(plane, N1)).toBe(false)
  await plane.confirmAll(N3)
  expect(yields(plane, N1)).toBe(true)
  await plane.stop()
})

test('a drain that has begun does not stop because another node has something new to do', async () => {
  const plane = await cluster()
  await schedule(plane, N1, 'draining')
  for (const id of [N2, N3]) await plane.confirmAll(id)
  await plane.admission.changeNodeGroup(GROUP, { vrrp: { profile: 'relaxed' } })
  await plane.idle()
  expect(yields(plane, N1)).toBe(true)
  await plane.stop()
})

test('a drain waits no longer than ten seconds', async () => {
  const plane = await cluster()
  await schedule(plane, N1, 'draining')
  const pass = async (ms: number): Promise<void> => {
    await plane.clock.advance(ms)
    for (const id of [N1, N2, N3]) await plane.report(id)
    await plane.idle()
  }
  for (let passed = 0; passed < 9; passed++) await pass(1000)
  await pass(999)
  expect(yields(plane, N1)).toBe(false)
  await pass(2)
  expect(yields(plane, N1)).toBe(true)
  await plane.stop()
})

test('a drain by BGP begins when another node has a session, and says so until then', async () => {
  const plane = await cluster(vrrpGroup(1, 2, { announcer: 'bgp', bgp: BGP }))
  await plane.put(['bgpPeer', ROUTER])
  const heard = (state: BgpSessionReport['state']): Partial<NodeReport> => ({
    shards: [1, 2].map((number) => ({ number, state: 'backup', since: NOW, takeovers: 0, lastMove: null })),
    bgpSessions: [{ peerId: ROUTER.id, state, since: NOW, announced: 0, lastError: null, bfd: null }],
  })
  await plane.confirmAll(N1, heard('established'))
  for (const id of [N2, N3]) await plane.confirmAll(id, heard('active'))
  await schedule(plane, N1, 'draining')
  for (const id of [N2, N3]) await plane.confirmAll(id)
  await plane.clock.advance(2500)
  for (const id of [N1, N2, N3]) await plane.confirmAll(id)
  expect(groupOf(plane, N1)).toMatchObject({ vrrp: { yield: false }, bgp: { drain: 'none' } })
  expect(plane.status.node(N1).problems).toMatchObject([
    { code: 'DrainWaits', message: 'Its drain waits: node `n2`, node `n3` cannot announce its addresses yet.' },
  ])
  for (const id of [N2, N3]) await plane.report(id, heard('established'))
  expect(groupOf(plane, N1)).toMatchObject({ vrrp: { yield: true }, bgp: { drain: 'prefer-others' } })
  expect(plane.status.node(N1).problems).toEqual([])
  // A session that ends later does not bring the drained node back.
  for (const id of [N2, N3]) await plane.report(id, heard('idle'))
  expect(yields(plane, N1)).toBe(true)
  await plane.stop()
})

test('a second chance outlasts the drain and ends in time', async () => {
  const plane = await cluster(vrrpGroup(1, 2, { secondChanceSeconds: 60 }))
  await schedule(plane, N1, 'draining')
  for (const id of [N2, N3]) await plane.confirmAll(id)
  await schedule(plane, N1, 'enabled')
  expect(groupOf(plane, N2)?.secondChance).toMatchObject({ first: '192.0.2.1', seconds: 60 })
  expect(groupOf(plane, N1)?.secondChance).toMatchObject({ first: null, leavingSince: expect.any(String) })
  for (let passed = 0; passed < 61_000; passed += 1000) {
    await plane.clock.advance(1000)
    for (const id of [N1, N2, N3]) await plane.report(id)
  }
  expect(groupOf(plane, N2)?.secondChance).toBeUndefined()
  await plane.stop()
})

test('a lost node has lost its connections', async () => {
  const plane = await cluster()
  await schedule(plane, N1, 'draining')
  for (const id of [N2, N3]) await plane.confirmAll(id)
  for (let passed = 0; passed < 6000; passed += 500) {
    await plane.clock.advance(500)
    for (const id of [N2, N3]) await plane.report(id)
  }
  expect(groupOf(plane, N2)?.secondChance).toBeUndefined()
  await plane.stop()
})

test('a node without a session takes over last in a drain by BGP, until it has one', async () => {
  const plane = await cluster(vrrpGroup(1, 2, { announcer: 'bgp', bgp: BGP }))
  await plane.put(['bgpPeer', ROUTER])
  const heard = (state: BgpSessionReport['state']): Partial<NodeReport> => ({
    shards: [1, 2].map((number) => ({ number, state: 'backup', since: NOW, takeovers: 0, lastMove: null })),
    bgpSessions: [{ peerId: ROUTER.id, state, since: NOW, announced: 0, lastError: null, bfd: null }],
  })
  for (const id of [N1, N2]) await plane.confirmAll(id, heard('established'))
  await plane.confirmAll(N3, heard('active'))
  const first = () =>
    [0, 1].map((at) => {
      const priorities = [N2, N3].map((id) => groupOf(plane, id)?.vrrp?.shards[at]?.priority ?? 0)
      return priorities[0]! > priorities[1]! ? N2 : N3
    })
  await schedule(plane, N1, 'draining')
  await plane.clock.advance(10_000)
  await plane.confirmAll(N3, heard('active'))
  for (const id of [N1, N2]) await plane.confirmAll(id, heard('established'))
  await plane.idle()
  expect(yields(plane, N1)).toBe(true)
  expect(first()).toEqual([N2, N2])
  await plane.confirmAll(N3, heard('established'))
  await plane.idle()
  expect(first()).toEqual([N2, N3])
  await plane.stop()
})

test('a second chance ends when the node reports that no client is left, and stays so after the drain', async () => {
  const plane = await cluster()
  await schedule(plane, N1, 'draining')
  for (const id of [N2, N3]) await plane.confirmAll(id)
  const since = groupOf(plane, N1)?.secondChance?.leavingSince ?? ''
  await plane.report(N1, { departure: { since, busyProxies: 3 } })
  expect(plane.status.node(N1).departure).toEqual({ since, busyProxies: 3 })
  expect(groupOf(plane, N2)?.secondChance).toBeDefined()
  await plane.report(N1, { departure: { since, busyProxies: 0 } })
  expect(groupOf(plane, N2)?.secondChance).toBeUndefined()
  expect(groupOf(plane, N1)?.secondChance?.leavingSince).toBe(since)
  await schedule(plane, N1, 'enabled')
  await plane.report(N1, { departure: null })
  expect(groupOf(plane, N2)?.secondChance).toBeUndefined()
  expect(plane.status.node(N1).departure).toBeNull()
  await plane.clock.advance(1000)
  await schedule(plane, N1, 'draining')
  expect(groupOf(plane, N2)?.secondChance).toBeDefined()
  await plane.stop()
})

test("nodes know each other's addresses in a network whose own clients reach a proxy, or whose replies move first", async () => {
  const plane = await cluster(vrrpGroup(1, 2, { announcer: 'bgp', bgp: BGP }))
  const domain = () => plane.entry(N1, 'domain/1') as DomainEntry
  const inner = (protocol: 'http' | 'tcp', scope: 'tenant' | 'fabric') => {
    const { vips, listeners, pools, ...rest } = loadBalancer(1)
    const changed: LoadBalancer = {
      ...rest,
      vips: vips.map((vip) => ({ ...vip, scope })),
      listeners: listeners.map((listener) => ({ ...listener, protocol })),
      pools: pools.map((pool) => ({ ...pool, protocol })),
    }
    return plane.put(['loadBalancer', changed])
  }
  await plane.put(['network', network(1)])
  for (const id of [N1, N2, N3]) await plane.report(id)
  await inner('http', 'fabric')
  expect(domain().nodeAddresses).toBeUndefined()
  await inner('http', 'tenant')
  const all = domain().nodeAddresses ?? {}
  expect(Object.keys(all)).toEqual([N1, N2, N3])
  expect(all[N1]).toEqual([domain().subnets[0]?.nodeAddress])
  expect(new Set(Object.values(all).flat()).size).toBe(3)
  await inner('tcp', 'fabric')
  expect(domain().nodeAddresses).toEqual(all)
  await inner('http', 'fabric')
  expect(domain().nodeAddresses).toBeUndefined()
  await plane.stop()
})

test('nodes of an l2 group take part in nothing but a second chance', async () => {
  const plane = await cluster(nodeGroup(1))
  expect(groupOf(plane, N2)).toBeNull()
  await schedule(plane, N1, 'draining')
  expect(groupOf(plane, N2)).toMatchObject({ vrrp: null, bgp: null, secondChance: { first: '192.0.2.1' } })
  await plane.stop()
})

test('a node that is deleted while its drain waits takes part in nothing any more', async () => {
  const plane = await cluster()
  await schedule(plane, N1, 'draining')
  expect(groupOf(plane, N1)).not.toBeNull()
  await plane.delete('node', N1)
  expect(groupOf(plane, N1)).toBeNull()
  await plane.stop()
})
