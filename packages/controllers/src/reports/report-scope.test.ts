import type { HealthMonitor, NodeReport } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { expect, test, vi } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, pool, uuid, vrrpGroup } from '../testing/model.ts'

const N1 = uuid('node', 1)
const N2 = uuid('node', 2)
const FOREIGN = uuid('node', 3)
const LB = uuid('lb', 1)
const OTHER = uuid('lb', 2)
const SINCE = '2026-01-01T00:00:00.000Z'

const monitor: HealthMonitor = {
  ...{ id: uuid('other', 900), name: '', description: '', createdAt: SINCE, updatedAt: null },
  ...{ tags: [], enabled: true, type: 'tcp', intervalMs: 1000, timeoutMs: 500, rise: 2, fall: 2, http: null },
}

/** Load balancer 1 on the nodes of group 1, and load balancer 2 of group 2, which has node 3 alone. */
async function twoGroups(): Promise<ControlPlane> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(
    ['nodeGroup', nodeGroup(1)],
    ['nodeGroup', vrrpGroup(2, 2, { name: 'other' })],
    ['node', node(1)],
    ['node', node(2)],
    ['node', node(3, { nodeGroupId: uuid('group', 2) })],
    ['network', network(1)],
  )
  for (const id of [N1, N2, FOREIGN]) await plane.report(id)
  await plane.put(
    ['loadBalancer', loadBalancer(1, { pools: [{ ...pool(1, ['10.0.0.11', '10.0.0.12']), monitor }] })],
    ['loadBalancer', loadBalancer(2, { nodeGroupId: uuid('group', 2) })],
  )
  for (const id of [N1, N2, FOREIGN]) await plane.confirmAll(id)
  return plane
}

const programmed = (id: string, announced: readonly string[] = []) => ({
  ...{ key: `lb/${id}`, hash: 'x', state: 'programmed' as const, reason: null, message: null },
  announced,
})
const health = (loadBalancerId: string, memberId: string) => ({
  ...{ loadBalancerId, poolId: uuid('pool', 1), memberId, health: 'down' as const, reason: 'a lie', since: SINCE },
})
const counters = (loadBalancerId: string, listenerId: string) => ({
  ...{ loadBalancerId, listenerId, bytesIn: 1e12, bytesOut: 1, activeConnections: 7 },
  ...{ totalConnections: 7, requestErrors: 0 },
})

test("a node cannot report on another group's load balancers", async () => {
  const plane = await twoGroups()
  const before = JSON.stringify(plane.status.loadBalancer(LB))
  const vip = loadBalancer(1).vips[0]!.address
  await plane.report(FOREIGN, {
    entries: [programmed(LB, [vip])],
    members: [health(LB, uuid('member', 1000))],
    stats: [counters(LB, uuid('listener', 1))],
  })
  expect(plane.status.loadBalancer(LB).stats.size).toBe(0)
  expect(plane.status.loadBalancer(LB).members.size).toBe(0)
  expect(JSON.stringify(plane.status.loadBalancer(LB))).toBe(before)
  expect(plane.status.history(LB, vip).filter(({ nodeId }) => nodeId === FOREIGN)).toEqual([])
  expect(plane.status.ignored(FOREIGN)).toBe(3)
  expect(plane.status.ignored(N1)).toBe(0)
  await plane.stop()
})

test('a node cannot delay a withdrawal by claiming to have the load balancer', async () => {
  const plane = await twoGroups()
  await plane.report(FOREIGN, { entries: [programmed(LB)] })
  await plane.delete('loadBalancer', LB)
  await plane.report(FOREIGN, { entries: [programmed(LB)] })
  for (const id of [N1, N2]) await plane.report(id, { removed: [`lb/${LB}`] })
  await plane.report(FOREIGN, { entries: [programmed(LB)] })
  expect(plane.status.withdrawals.withdrawal(LB)).toMatchObject({ withdrawn: true, waitingFor: [] })
  await plane.stop()
})

test('reports of members, listeners and addresses that a load balancer does not have are dropped', async () => {
  const plane = await twoGroups()
  const before = loadBalancer(1).vips[0]!.address
  await plane.report(N1, {
    entries: [{ ...programmed(LB, [before, '198.18.0.99']), hash: plane.nodeStates.get(N1, `lb/${LB}`)!.hash }],
    members: [health(LB, uuid('member', 5000)), health(LB, uuid('member', 1001))],
    stats: [counters(LB, uuid('listener', 2)), counters(OTHER, uuid('listener', 2))],
  })
  const status = plane.status.loadBalancer(LB)
  expect([...status.members.keys()]).toEqual([uuid('member', 1001)])
  expect(status.stats.size).toBe(0)
  expect(plane.status.loadBalancer(OTHER).stats.size).toBe(0)
  expect(status.nodes.find(({ nodeId }) => nodeId === N1)?.announced).toEqual([before])
  expect(plane.status.history(LB, '198.18.0.99')).toEqual([])
  expect(plane.status.ignored(N1)).toBe(4)
  await plane.stop()
})

test('reports of unknown shards and sessions are dropped', async () => {
  const plane = await twoGroups()
  const master = (number: number) => ({
    ...{ number, state: 'master' as const, since: SINCE, takeovers: 1, lastMove: null },
  })
  await plane.report(N1, { shards: [master(1)] })
  await plane.report(FOREIGN, {
    shards: [master(2), master(16)],
    bgpSessions: [
      { peerId: uuid('other', 7), state: 'established', since: SINCE, announced: 9, lastError: null, bfd: null },
    ],
    departure: { since: SINCE, busyProxies: 5 },
  })
  expect(plane.status.shards(uuid('group', 1))).toEqual([])
  expect(plane.status.shards(uuid('group', 2)).map(({ number }) => number)).toEqual([2])
  expect(plane.status.node(FOREIGN)).toMatchObject({ bgpSessions: [], departure: null })
  expect(plane.status.ignored(FOREIGN)).toBe(3)
  await plane.stop()
})

test('a conflict about an address that is not its own is dropped', async () => {
  const plane = await twoGroups()
  const claim = (address: string) => ({ address, mac: '02:00:00:00:00:99', since: SINCE })
  const own = plane.view.get('loadBalancer', LB)!.value.vips[0]!.address
  await plane.report(N1, { addressConflicts: [claim('203.0.113.9'), claim(own)] })
  expect(plane.status.node(N1).addressConflicts.map(({ address }) => address)).toEqual([own])
  await plane.report(FOREIGN, { addressConflicts: [claim(own)] })
  expect(plane.status.node(FOREIGN).addressConflicts).toEqual([])
  await plane.stop()
})

test("a node's fabric address is stored at most once a second, however often it changes", async () => {
  const plane = await twoGroups()
  const stored = () => plane.view.get('node', N1)!.value.seenFabricAddress
  const asked = vi.spyOn(plane.admission, 'seeFabricAddress')
  for (let last = 10; last < 60; last++) await plane.report(N1, { fabricAddress: `192.0.2.${last}` })
  expect(stored()).toBe('192.0.2.10')
  expect(asked).toHaveBeenCalledTimes(1)
  await plane.clock.advance(1100)
  await plane.idle()
  expect(stored()).toBe('192.0.2.59')
  // The address of another node or a load balancer is refused, and so is a text that is not an address.
  for (const fabricAddress of ['192.0.2.2', '127.0.0.1', 'ten'])
    for (let turn = 0; turn < 2; turn++) {
      await plane.report(N1, { fabricAddress })
      await plane.clock.advance(1100)
      await plane.idle()
    }
  expect(stored()).toBe('192.0.2.59')
  await plane.stop()
})

test("a claim of an address that may be somebody else's is refused, and the node's status says so", async () => {
  const plane = await twoGroups()
  const codes = () => plane.status.node(N1).problems.map(({ code }) => code)
  await plane.report(N1, { fabricAddress: '192.0.2.10' })
  await plane.idle()
  expect(codes()).toEqual([])
  await plane.report(N1, { fabricAddress: '10.0.0.12' })
  await plane.clock.advance(1100)
  await plane.idle()
  expect(plane.view.get('node', N1)!.value.seenFabricAddress).toBe('192.0.2.10')
  expect(codes()).toEqual(['FabricAddressRefused'])
  // A tenant's member has the refused address.
  await plane.put(['loadBalancer', loadBalancer(1, { pools: [pool(1, ['10.0.0.12'])] })])
  await plane.report(N1, { fabricAddress: '192.0.2.11' })
  await plane.clock.advance(1100)
  await plane.idle()
  expect(codes()).toEqual([])
  await plane.stop()
})

test('invented reports are not kept, however many', async () => {
  const plane = await twoGroups()
  const made = (turn: number): Partial<NodeReport> => {
    const ids = Array.from({ length: 1000 }, (_, index) => uuid('other', 100_000 + turn * 1000 + index))
    return {
      entries: ids.map((id) => programmed(id)),
      members: ids.map((id) => health(id, id)),
      stats: ids.map((id) => counters(id, id)),
    }
  }
  for (let turn = 0; turn < 30; turn++) await plane.report(FOREIGN, made(turn))
  expect(plane.status.ignored(FOREIGN)).toBe(90_000)
  expect(plane.status.withdrawals.withdrawal(uuid('other', 100_500)).waitingFor).toEqual([])
  await plane.stop()
})

test('what a node had before this process started is waited for, and limited', async () => {
  const plane = await twoGroups()
  const gone = uuid('lb', 77)
  await plane.delete('node', FOREIGN)
  await plane.put(['node', node(3, { nodeGroupId: uuid('group', 2) })])
  await plane.report(FOREIGN, { inSync: false, entries: [programmed(gone)] })
  expect(plane.status.withdrawals.withdrawal(gone).waitingFor.map(({ nodeId }) => nodeId)).toEqual([FOREIGN])
  const many = Array.from({ length: 10_500 }, (_, index) => programmed(uuid('other', 200_000 + index)))
  await plane.report(FOREIGN, { inSync: false, entries: many })
  expect(plane.status.ignored(FOREIGN)).toBe(501)
  await plane.report(FOREIGN, { removed: [`lb/${gone}`] })
  expect(plane.status.withdrawals.withdrawal(gone)).toMatchObject({ withdrawn: true })
  await plane.stop()
})

test('a confirmation of an entry that was taken away counts when the same entry is given again', async () => {
  const plane = await twoGroups()
  const key = `lb/${LB}`
  const held = plane.nodeStates.get(N1, key)!
  await plane.report(N1, { removed: [key] })
  plane.nodeStates.set(key, new Map())
  // The node applied the entry before it learnt of its removal.
  await plane.report(N1, { entries: [{ ...programmed(LB), hash: held.hash }] })
  plane.nodeStates.set(key, new Map([[N1, held.entry]]))
  expect(plane.status.confirmedHash(N1, key)).toBe(held.hash)
  await plane.stop()
})

test('a node counts requests of pools and routes of the load balancer alone', async () => {
  const plane = await twoGroups()
  const counts = { latencies: [[20, 1]] as const, responses: { '1xx': 0, '2xx': 1, '3xx': 0, '4xx': 0, '5xx': 0 } }
  const [own, foreign] = [uuid('pool', 1), uuid('pool', 2)]
  const parts = { pools: { [own]: counts, [foreign]: counts }, routes: { invented: counts, other: counts } }
  const { latencies, responses } = counts
  const http = { requests: 1, responses, latencies, parts }
  await plane.report(N1, { stats: [{ ...counters(LB, uuid('listener', 1)), http }] })
  expect(plane.status.requests(LB).get(uuid('listener', 1))).toEqual({
    pools: { [own]: counts },
    routes: { other: counts },
  })
  await plane.stop()
})
