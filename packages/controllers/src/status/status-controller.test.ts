import type { MemberHealth, ServiceStats } from '@spout/model'
import type { LatencyCounts } from '@spout/model/latency-counts'
import { MemoryStore } from '@spout/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, MONITOR, network, node, nodeGroup, pool, uuid } from '../testing/model.ts'
import { StatsSum } from './stats-sum.ts'

const N1 = uuid('node', 1)
const N2 = uuid('node', 2)
const LB = uuid('lb', 1)
const KEY = `lb/${LB}`

/** Two nodes, and load balancer 1 on the first of them, not confirmed yet. */
async function placed(): Promise<ControlPlane> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['node', node(2)], ['network', network(1)])
  await plane.report(N1)
  await plane.report(N2)
  await plane.put(['loadBalancer', loadBalancer(1)])
  return plane
}

const status = (plane: ControlPlane) => {
  const { provisioning, reason, confirmedGeneration } = plane.status.loadBalancer(LB)
  return { provisioning, reason, confirmedGeneration }
}

const programmed = (plane: ControlPlane, nodeId: string, announced: readonly string[]) => ({
  key: KEY,
  hash: plane.nodeStates.get(nodeId, KEY)!.hash,
  state: 'programmed' as const,
  reason: null,
  message: null,
  announced,
})

test('pending until the owner programmed exactly the newest entry and announces it', async () => {
  const plane = await placed()
  expect(status(plane)).toEqual({ provisioning: 'pending', reason: 'WaitingForNode', confirmedGeneration: 0 })
  await plane.confirmAll(N2)
  expect(status(plane).provisioning).toBe('pending')
  await plane.report(N1, { entries: [programmed(plane, N1, [])] })
  expect(status(plane).reason).toBe('WaitingForAnnouncement')
  await plane.report(N1, { entries: [{ ...programmed(plane, N1, ['198.18.0.2']), hash: 'another' }] })
  expect(status(plane).provisioning).toBe('pending')
  await plane.confirmAll(N1)
  expect(status(plane)).toEqual({ provisioning: 'active', reason: 'Programmed', confirmedGeneration: 1 })

  await plane.put(['loadBalancer', loadBalancer(1, { generation: 2, pools: [pool(1, ['10.0.0.13'])] })])
  expect(status(plane)).toEqual({ provisioning: 'pending', reason: 'WaitingForNode', confirmedGeneration: 1 })
  await plane.confirmAll(N1)
  expect(status(plane)).toEqual({ provisioning: 'active', reason: 'Programmed', confirmedGeneration: 2 })
  await plane.stop()
})

test('load balancers are counted by provisioning status', async () => {
  const plane = await placed()
  expect(plane.status.counts).toEqual({ pending: 1, active: 0, error: 0 })
  await plane.put(['loadBalancer', loadBalancer(2)])
  for (const id of [N1, N2]) await plane.confirmAll(id)
  expect(plane.status.counts).toEqual({ pending: 0, active: 2, error: 0 })
  await plane.report(N1, { entries: [{ ...programmed(plane, N1, []), state: 'failed', reason: 'KernelRefused' }] })
  expect(plane.status.counts).toEqual({ pending: 0, active: 1, error: 1 })
  await plane.admission.deleteLoadBalancer(LB, { cascade: true })
  await plane.idle()
  expect(plane.status.counts).toEqual({ pending: 0, active: 1, error: 0 })
  await plane.stop()
})

test('an address that a node must give up is no conflict', async () => {
  const plane = await placed()
  const { address } = plane.view.get('loadBalancer', LB)!.value.vips[0]!
  const addressConflicts = [{ address, mac: '02:00:00:00:00:99', since: '2026-01-01T00:00:00.000Z' }]
  for (const id of [N1, N2]) await plane.report(id, { addressConflicts })
  const claimedAt = () => [N1, N2].filter((id) => plane.status.node(id).problems.length > 0)
  expect(claimedAt()).toEqual([N1])
  await plane.admission.setNodeScheduling(N1, 'draining')
  await plane.idle()
  expect(claimedAt()).toEqual([N2])
  await plane.stop()
})

test("an error has the node's message", async () => {
  const plane = await placed()
  const entry = {
    ...programmed(plane, N1, []),
    state: 'failed' as const,
    reason: 'KernelRefused',
    message: 'No space left',
  }
  await plane.report(N1, { entries: [entry] })
  expect(plane.status.loadBalancer(LB)).toMatchObject({
    provisioning: 'error',
    reason: 'KernelRefused',
    message: 'Node n1: No space left',
  })
  await plane.stop()
})

test('no node is an error that says so; no network is active, because there is nothing to do', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['network', network(1)])
  await plane.put(['loadBalancer', loadBalancer(1)])
  expect(plane.status.loadBalancer(LB)).toMatchObject({ provisioning: 'error', reason: 'NoNodeAvailable' })
  await plane.put(['loadBalancer', loadBalancer(1, { networkId: null, pools: [], listeners: [] })])
  expect(plane.status.loadBalancer(LB)).toMatchObject({ provisioning: 'active', reason: 'NoNetwork' })
  await plane.stop()
})

test('without a network it is active at once, and no placement is stored', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['network', network(1)])
  const alone = loadBalancer(1, { networkId: null, pools: [], listeners: [] })
  await plane.put(['loadBalancer', alone])
  expect(plane.status.loadBalancer(LB)).toMatchObject({ provisioning: 'active', reason: 'NoNetwork' })
  expect((await plane.store.list('placement')).items).toEqual([])
  await plane.put(['loadBalancer', loadBalancer(1)])
  expect(plane.status.loadBalancer(LB)).toMatchObject({ provisioning: 'error', reason: 'NoNodeAvailable' })
  expect((await plane.store.list('placement')).items).toHaveLength(1)
  await plane.put(['loadBalancer', alone])
  expect(plane.status.loadBalancer(LB)).toMatchObject({ provisioning: 'active', reason: 'NoNetwork' })
  expect(plane.view.get('placement', LB)?.value).toMatchObject({ networkId: null })
  await plane.stop()
})

test('a silent node is disconnected, its reports stay, and active load balancers stay active', async () => {
  const plane = await placed()
  await plane.confirmAll(N1)
  await plane.clock.advance(3100)
  expect(plane.status.node(N1)).toMatchObject({ connection: 'disconnected', inSync: true })
  expect(plane.status.loadBalancer(LB)).toMatchObject({ provisioning: 'active' })
  expect(plane.status.loadBalancer(LB).nodes[0]).toMatchObject({
    nodeName: 'n1',
    connection: 'disconnected',
    state: 'programmed',
  })
  await plane.put(['loadBalancer', loadBalancer(1, { generation: 2 })])
  expect(status(plane)).toMatchObject({ provisioning: 'pending', reason: 'NodeDisconnected' })
  await plane.report(N1)
  expect(plane.status.node(N1).connection).toBe('connected')
  await plane.stop()
})

test('an unknown session is asked for everything, and what it does not repeat is dropped once it is in sync', async () => {
  const plane = await placed()
  await plane.confirmAll(N1)
  expect(await plane.report(N1, { session: 'session-2', sequence: 7, inSync: false })).toEqual({ resend: true })
  expect(status(plane).provisioning).toBe('active')
  expect(await plane.report(N1, { session: 'session-2', sequence: 8, inSync: false })).toEqual({ resend: false })
  expect(status(plane).provisioning).toBe('active')
  await plane.report(N1, { session: 'session-2', sequence: 9, inSync: true })
  expect(status(plane)).toMatchObject({ provisioning: 'pending' })
  expect(await plane.report(N1, { session: 'session-3', sequence: 1 })).toEqual({ resend: false })
  await plane.stop()
})

test('a report that comes late or twice changes nothing', async () => {
  const plane = await placed()
  await plane.confirmAll(N1)
  const stale = { ...programmed(plane, N1, []), state: 'failed' as const, reason: 'Old', message: 'old' }
  expect(await plane.report(N1, { sequence: 1, entries: [stale] })).toEqual({ resend: false })
  expect(status(plane).provisioning).toBe('active')
  await plane.stop()
})

test('listeners are called once per change of status, and for nothing else', async () => {
  const plane = await placed()
  const heard: string[] = []
  plane.status.onChange((kind, id) => heard.push(`${kind} ${id}`))
  await plane.confirmAll(N1)
  expect(heard).toEqual([`loadBalancer ${LB}`])
  await plane.confirmAll(N1)
  await plane.report(N1, { stats: [stats({ bytesIn: 5 })] })
  expect(heard).toEqual([`loadBalancer ${LB}`])
  await plane.clock.advance(1500)
  await plane.report(N2)
  await plane.clock.advance(1600)
  expect(heard.slice(1).sort()).toEqual([`loadBalancer ${LB}`, `node ${N1}`])
  await plane.stop()
})

test("a member's health is the owner's report, else the worst of the others, and absent without a monitor", async () => {
  const plane = await placed()
  const watched = { ...pool(1, ['10.0.0.11', '10.0.0.12']), monitor: MONITOR }
  await plane.put(['loadBalancer', loadBalancer(1, { generation: 2, pools: [watched] })])
  const memberId = watched.members[0]!.id
  const word = (health: MemberHealth['health'], since: string): MemberHealth => ({
    loadBalancerId: LB,
    poolId: watched.id,
    memberId,
    health,
    reason: health === 'down' ? 'connection refused' : null,
    since,
  })
  const health = () => plane.status.loadBalancer(LB).members.get(memberId)?.health
  const serving = () => {
    const { state, membersUp, members } = plane.status.summary(LB).serving
    return `${state}: ${membersUp} of ${members}`
  }
  expect(health()).toBeUndefined()
  expect(serving()).toBe('yes: 2 of 2')
  await plane.report(N2, { members: [word('down', '2026-01-01T00:00:01.000Z')] })
  expect(health()).toBe('down')
  expect(serving()).toBe('partly: 1 of 2')
  await plane.report(N1, { members: [word('up', '2026-01-01T00:00:02.000Z')] })
  expect(health()).toBe('up')
  expect(serving()).toBe('yes: 2 of 2')
  await plane.report(N1, { session: 'restarted', sequence: 1, members: [word('up', '2026-01-01T00:00:09.000Z')] })
  expect(plane.status.loadBalancer(LB).members.get(memberId)?.since).toBe('2026-01-01T00:00:02.000Z')
  await plane.put(['loadBalancer', loadBalancer(1, { generation: 3, pools: [{ ...watched, monitor: null }] })])
  expect(health()).toBeUndefined()
  await plane.stop()
})

test("readers of many members' health share one object until it changes", async () => {
  const plane = await placed()
  const watched = { ...pool(1, ['10.0.0.11']), monitor: MONITOR }
  await plane.put(['loadBalancer', loadBalancer(1, { generation: 2, pools: [watched] })])
  const members = () => plane.status.loadBalancer(LB).members
  const first = members()
  expect(members()).toBe(first)
  const of = { loadBalancerId: LB, poolId: watched.id, memberId: watched.members[0]!.id }
  const down = { ...of, health: 'down', reason: 'connection refused', since: '2026-01-01T00:00:01.000Z' } as const
  await plane.report(N1, { members: [down] })
  expect(members()).not.toBe(first)
  expect([...members().values()]).toMatchObject([{ health: 'down' }])
  await plane.stop()
})

const stats = (changes: Partial<ServiceStats>): ServiceStats => ({
  loadBalancerId: LB,
  listenerId: uuid('listener', 1),
  bytesIn: 0,
  bytesOut: 0,
  activeConnections: 0,
  totalConnections: 0,
  requestErrors: 0,
  ...changes,
})

test('requests and responses are summed over nodes that count them, also over restarts', async () => {
  const plane = await placed()
  const http = (requests: number) => ({
    requests,
    responses: { '1xx': 0, '2xx': requests - 1, '3xx': 0, '4xx': 0, '5xx': 1 },
  })
  const sum = () => plane.status.loadBalancer(LB).stats.get(uuid('listener', 1))
  await plane.report(N1, { stats: [stats({ totalConnections: 1 })] })
  expect(sum()).not.toHaveProperty('http')
  await plane.report(N1, { stats: [stats({ totalConnections: 2, http: http(10) })] })
  await plane.report(N2, { stats: [stats({ totalConnections: 1, http: http(4) })] })
  expect(sum()?.http).toEqual({ requests: 14, responses: { '1xx': 0, '2xx': 12, '3xx': 0, '4xx': 0, '5xx': 2 } })
  // The proxy was restarted.
  await plane.report(N2, { stats: [stats({ totalConnections: 1, http: http(3) })] })
  expect(sum()?.http).toMatchObject({ requests: 17, responses: { '5xx': 3 } })
  await plane.stop()
})

test('latencies are summed over nodes, and over restarts of the agents that count them', async () => {
  const plane = await placed()
  const http = (requests: number, latencies?: LatencyCounts) => ({
    http: {
      requests,
      responses: { '1xx': 0, '2xx': requests, '3xx': 0, '4xx': 0, '5xx': 0 },
      ...(latencies === undefined ? {} : { latencies }),
    },
  })
  const sum = () => plane.status.loadBalancer(LB).stats.get(uuid('listener', 1))?.http
  await plane.report(N1, { stats: [stats(http(3))] })
  expect(sum()).not.toHaveProperty('latencies')
  await plane.report(N1, {
    stats: [
      stats(
        http(6, [
          [20, 2],
          [40, 1],
        ]),
      ),
    ],
  })
  await plane.report(N2, { stats: [stats(http(1, [[40, 1]]))] })
  expect(sum()).toMatchObject({
    requests: 7,
    latencies: [
      [20, 2],
      [40, 2],
    ],
  })
  // The agent was restarted. The proxy was not, so its requests continue.
  await plane.report(N1, { stats: [stats(http(7, [[50, 1]]))] })
  expect(sum()).toMatchObject({
    requests: 8,
    latencies: [
      [20, 2],
      [40, 2],
      [50, 1],
    ],
  })
  // The proxy was restarted, too.
  await plane.report(N1, { stats: [stats(http(1))] })
  await plane.report(N1, { stats: [stats(http(2, [[20, 1]]))] })
  expect(sum()).toMatchObject({
    requests: 10,
    latencies: [
      [20, 3],
      [40, 2],
      [50, 1],
    ],
  })
  expect(plane.status.nodeStats(N2, LB).get(uuid('listener', 1))?.http?.latencies).toEqual([[40, 1]])
  await plane.stop()
})

test('requests by pool are summed over nodes and over restarts of agents, apart from the listeners', async () => {
  const plane = await placed()
  const counted = (requests: number) => {
    const responses = { '1xx': 0, '2xx': requests, '3xx': 0, '4xx': 0, '5xx': 0 }
    return { latencies: [[20, requests]] as const, responses }
  }
  const http = (requests: number) => {
    const counts = counted(requests)
    return { http: { requests: 9, ...counts, parts: { pools: { [uuid('pool', 1)]: counts }, routes: {} } } }
  }
  expect(plane.status.requests(LB).size).toBe(0)
  await plane.report(N1, { stats: [stats(http(3))] })
  await plane.report(N2, { stats: [stats(http(2))] })
  // The agent was restarted.
  await plane.report(N1, { stats: [stats(http(1))] })
  expect(plane.status.requests(LB).get(uuid('listener', 1))).toEqual({
    pools: { [uuid('pool', 1)]: counted(6) },
    routes: {},
  })
  expect(plane.status.loadBalancer(LB).stats.get(uuid('listener', 1))?.http).not.toHaveProperty('parts')
  expect(plane.status.nodeStats(N1, LB).get(uuid('listener', 1))?.http).not.toHaveProperty('parts')
  await plane.stop()
})

test('counters are summed over nodes; a lost node keeps its share but not its open connections', async () => {
  const plane = await placed()
  await plane.report(N1, { stats: [stats({ totalConnections: 10, activeConnections: 3 })] })
  await plane.report(N2, { stats: [stats({ totalConnections: 4, activeConnections: 1 })] })
  const sum = () => plane.status.loadBalancer(LB).stats.get(uuid('listener', 1))
  expect(sum()).toMatchObject({ totalConnections: 14, activeConnections: 4 })
  const on = (nodeId: string) => plane.status.nodeStats(nodeId, LB).get(uuid('listener', 1))
  expect([on(N1), on(N2), on(uuid('node', 3))]).toMatchObject([
    { totalConnections: 10, activeConnections: 3 },
    { totalConnections: 4, activeConnections: 1 },
    undefined,
  ])
  for (let second = 0; second < 6; second++) {
    await plane.clock.advance(1000)
    await plane.report(N2)
  }
  expect(sum()).toMatchObject({ totalConnections: 14, activeConnections: 1 })
  await plane.report(N1, { session: 'rebooted', sequence: 1, stats: [stats({ totalConnections: 2 })] })
  expect(sum()).toMatchObject({ totalConnections: 16, activeConnections: 1 })
  expect(on(N1)).toMatchObject({ totalConnections: 12, activeConnections: 0 })
  await plane.stop()
})

test('a node has figures of what is on it; what goes takes its open connections with it, and no rate is told', async () => {
  const plane = await placed()
  const last = (name: 'connectionsPerSecond' | 'openConnections', nodeId = N1) =>
    plane.status.figures(nodeId, 'hour').series[name]?.findLast((value) => value !== null)
  const report = (totalConnections: number) =>
    plane.report(N1, { stats: [stats({ totalConnections, activeConnections: 3 })] })
  // What it counted before it was first heard is not from now.
  await report(1000)
  expect(plane.status.figures(N1, 'hour').series).toEqual({})
  await report(1020)
  const told: string[] = []
  plane.status.onRates((id) => told.push(id))
  // It goes on to report: a silent node loses its connections.
  for (let second = 0; second < 10; second++) {
    await plane.report(N1)
    await plane.clock.advance(1000)
  }
  expect([last('connectionsPerSecond'), last('openConnections')]).toEqual([2, 3])
  expect([last('connectionsPerSecond', N2), told]).toEqual([undefined, [LB]])
  await plane.delete('loadBalancer', LB)
  await plane.clock.advance(20_000)
  expect(last('openConnections')).toBe(0)
  await plane.delete('node', N1)
  expect(plane.status.figures(N1, 'hour').series).toEqual({})
  await plane.stop()
})

test('however counters start over, the sum never falls', () => {
  const report = fc.record({ node: fc.constantFrom('a', 'b'), bytesIn: fc.nat(100), totalConnections: fc.nat(100) })
  fc.assert(
    fc.property(fc.array(report), (reports) => {
      const sum = new StatsSum()
      let before = { bytesIn: 0, totalConnections: 0 }
      for (const { node: id, ...counters } of reports) {
        sum.report(id, stats(counters))
        const after = sum.sum()!
        expect(after.bytesIn).toBeGreaterThanOrEqual(before.bytesIn)
        expect(after.totalConnections).toBeGreaterThanOrEqual(before.totalConnections)
        before = after
      }
    }),
  )
})

test("figures and transitions of members' checks come from reports, and go with the load balancer", async () => {
  const plane = await placed()
  const of = { loadBalancerId: LB, poolId: uuid('pool', 1), memberId: uuid('member', 1000) }
  const [up, down] = [
    { ...of, health: 'up', reason: null, since: '2026-01-01T00:00:00.000Z' } as const,
    { ...of, health: 'down', reason: 'connection refused', since: '2026-01-01T00:00:10.000Z' } as const,
  ]
  // What the node counted before it was first heard is not from now.
  await plane.report(N1, { members: [up], stats: [stats({ totalConnections: 1000, bytesIn: 1 })] })
  await plane.report(N1, { members: [down], stats: [stats({ totalConnections: 1020, bytesIn: 1 })] })
  const told: string[] = []
  plane.status.onRates((id) => told.push(id))
  await plane.clock.advance(10_000)
  expect(plane.status.rates(LB)).toEqual({ connectionsPerSecond: 2, bytesPerSecond: 0 })
  expect(told).toEqual([LB])
  expect(plane.status.figures(LB, 'hour').series.connectionsPerSecond).toContain(2)
  const { loadBalancerId: _, since, ...rest } = down
  expect(plane.status.memberHistory(LB)).toEqual([{ ...rest, at: since, nodeName: 'n1' }])
  await plane.delete('loadBalancer', LB)
  expect([plane.status.rates(LB), plane.status.memberHistory(LB)]).toEqual([null, []])
  await plane.stop()
})
