import {
  type BgpSessionReport,
  bgpPeer,
  type GroupEntry,
  type NodeReport,
  type ShardState,
  SpoutError,
} from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { MemoryStore, type Store } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { node, uuid, vrrpGroup } from '../testing/model.ts'
import { BegunMoves } from './begun-moves.ts'

const [N1, N2, N3] = [1, 2, 3].map((number) => uuid('node', number)) as [string, string, string]
const ALL = [N1, N2, N3]
const GROUP = uuid('group', 1)
const NOW = '2026-01-01T00:00:00.000Z'
const ROUTER = bgpPeer.parse({
  ...{ id: uuid('other', 1), name: 'tor', description: '', createdAt: NOW, updatedAt: null },
  ...{ address: '192.0.2.254', as: 64_513 },
})
const MOVE = { shard: 2, fromNodeId: N1, toNodeId: N2 }

/** A report of a node that takes part in both shards, with a session to the router in this state. */
const says = (session: BgpSessionReport['state'], shards: ShardState = 'backup'): Partial<NodeReport> => ({
  shards: [1, 2].map((number) => ({ number, state: shards, since: NOW, takeovers: 0, lastMove: null })),
  bgpSessions: [{ peerId: ROUTER.id, state: session, since: NOW, announced: 0, lastError: null, bfd: null }],
})

/** Of three nodes the first has both shards, and only it can announce. */
async function cluster(store: Store): Promise<ControlPlane> {
  const plane = await ControlPlane.start(store)
  const bgp = { localAs: 64_512, policy: 'always', drainSeconds: 10 } as const
  await plane.put(['nodeGroup', vrrpGroup(1, 2, { announcer: 'bgp', bgp })], ['bgpPeer', ROUTER])
  for (const number of [1, 2, 3]) await plane.put(['node', node(number)])
  await pass(plane, 2000)
  return plane
}

/** Lets time pass. Only the first node can announce. */
async function pass(plane: ControlPlane, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 2000) {
    await plane.clock.advance(2000)
    await plane.confirmAll(N1, says('established', 'master'))
    for (const id of [N2, N3]) await plane.confirmAll(id, says('active'))
  }
}

async function restarted(plane: ControlPlane): Promise<ControlPlane> {
  await plane.stop()
  return ControlPlane.start(plane.store, plane.clock)
}

async function drain(plane: ControlPlane): Promise<void> {
  await plane.admission.setNodeScheduling(N1, 'draining')
  await plane.idle()
}

const partOf = (plane: ControlPlane, nodeId: string) => plane.entry(nodeId, 'group') as GroupEntry | null
const yields = (plane: ControlPlane) => partOf(plane, N1)?.vrrp?.yield
const begunAt = (plane: ControlPlane) => plane.view.get('node', N1)?.value.drainBegunAt
const problemsOf = (plane: ControlPlane) => plane.status.node(N1).problems.map(({ message }) => message)
const handOver = (plane: ControlPlane) =>
  partOf(plane, N1)?.vrrp?.shards.find(({ number }) => number === MOVE.shard)?.handOver

test('a drain that waits goes on waiting after a restart, whichever node reports first', async () => {
  for (const order of [ALL, [N2, N3, N1], [N3, N1, N2]]) {
    const running = await cluster(new MemoryStore())
    await drain(running)
    await pass(running, 20_000)
    expect([yields(running), begunAt(running)]).toEqual([false, null])
    const plane = await restarted(running)
    expect(yields(plane)).toBe(false)
    for (const id of order) {
      await plane.confirmAll(id, id === N1 ? says('established', 'master') : says('active'))
      expect([yields(plane), begunAt(plane)]).toEqual([false, null])
    }
    await pass(plane, 10_000)
    expect([yields(plane), begunAt(plane)]).toEqual([false, null])
    await plane.confirmAll(N2, says('established'))
    expect([yields(plane), begunAt(plane)]).toEqual([true, expect.any(String)])
    await plane.stop()
  }
})

test('a drain that has begun goes on after a restart, and is not begun anew', async () => {
  const running = await cluster(new MemoryStore())
  await drain(running)
  // Their own parts change when they can take over.
  for (const id of [N2, N3, N2, N3]) await running.confirmAll(id, says('established'))
  const before = begunAt(running)
  expect([yields(running), before]).toEqual([true, expect.any(String)])
  const revision = await running.store.revision()
  const plane = await restarted(running)
  expect(yields(plane)).toBe(true)
  // By now no other node can announce. A new drain would wait for that.
  await pass(plane, 10_000)
  expect([yields(plane), begunAt(plane)]).toEqual([true, before])
  expect(await plane.store.revision()).toBe(revision)
  await plane.stop()
})

test('a drain that an earlier version began goes on', async () => {
  const running = await cluster(new MemoryStore())
  await drain(running)
  const { drainBegunAt: _, ...earlier } = running.view.get('node', N1)!.value
  await running.put(['node', earlier])
  expect(yields(running)).toBe(true)
  const plane = await restarted(running)
  await pass(plane, 10_000)
  expect(yields(plane)).toBe(true)
  await plane.stop()
})

test('a node that has not reported since a restart is not taken for one that cannot announce', async () => {
  const running = await cluster(new MemoryStore())
  await drain(running)
  await pass(running, 20_000)
  const plane = await restarted(running)
  await plane.confirmAll(N2, says('active'))
  expect(problemsOf(plane)).toEqual([
    'Its drain waits: node `n2` cannot announce its addresses yet; node `n3` has not reported since the control plane started.',
  ])
  await plane.confirmAll(N3, says('established'))
  expect([yields(plane), problemsOf(plane)]).toEqual([true, []])
  await plane.stop()
})

test('a drained node is not waited for, when it stays silent after a restart', async () => {
  const running = await cluster(new MemoryStore())
  await drain(running)
  await pass(running, 20_000)
  const plane = await restarted(running)
  for (let passed = 0; passed < 10_000; passed += 2000) {
    for (const id of [N2, N3]) await plane.confirmAll(id, says('active'))
    await plane.clock.advance(2000)
  }
  expect([yields(plane), begunAt(plane)]).toEqual([true, expect.any(String)])
  await plane.stop()
})

test('a move of a shard that no node has yet begins once the nodes report it', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', vrrpGroup(1, 2, { announcer: 'bgp' })])
  for (const number of [1, 2, 3]) await plane.put(['node', node(number)])
  for (const id of ALL) await plane.confirmAll(id, { shards: [] })
  await plane.admission.rebalanceNodeGroup(GROUP, () => [MOVE])
  await plane.idle()
  for (const id of ALL) await plane.confirmAll(id, says('established', id === N1 ? 'master' : 'backup'))
  await plane.idle()
  expect(plane.view.get('nodeGroup', GROUP)?.value.rebalance?.begun).toEqual([MOVE.shard])
  await plane.stop()
})

test('a move of a shard waits and goes on after a restart as before it', async () => {
  const running = await cluster(new MemoryStore())
  const { rebalance } = await running.admission.rebalanceNodeGroup(GROUP, () => [MOVE])
  await pass(running, 4000)
  expect(handOver(running)).toBeUndefined()
  const waiting = await restarted(running)
  for (const id of [N2, N3]) await waiting.confirmAll(id, says('active'))
  await waiting.confirmAll(N1, says('established', 'master'))
  await pass(waiting, 2000)
  expect(handOver(waiting)).toBeUndefined()
  await waiting.confirmAll(N2, says('established'))
  expect(handOver(waiting)).toBe(rebalance?.askedAt)
  expect(waiting.view.get('nodeGroup', GROUP)?.value.rebalance).toEqual({ ...rebalance, begun: [MOVE.shard] })
  const revision = await waiting.store.revision()
  const plane = await restarted(waiting)
  // The new owner cannot announce any more. A new move would wait for that.
  await pass(plane, 2000)
  expect(handOver(plane)).toBe(rebalance?.askedAt)
  expect(await plane.store.revision()).toBe(revision)
  await plane.stop()
})

test('a move that looked done after a restart goes on once the old owner claims the shard again', async () => {
  const tell = async (plane: ControlPlane) => {
    for (const id of ALL) await plane.confirmAll(id, says('established', id === N3 ? 'backup' : 'master'))
  }
  const passWithTwo = async (plane: ControlPlane) => {
    await tell(plane)
    await plane.clock.advance(2000)
    await tell(plane)
  }
  const running = await cluster(new MemoryStore())
  await passWithTwo(running)
  const back = { shard: 2, fromNodeId: N2, toNodeId: N1 }
  const { rebalance } = await running.admission.rebalanceNodeGroup(GROUP, () => [back])
  await tell(running)
  const givesUp = (plane: ControlPlane) => partOf(plane, N2)?.vrrp?.shards.find((one) => one.number === 2)?.handOver
  expect(givesUp(running)).toBe(rebalance?.askedAt)
  const plane = await restarted(running)
  await tell(plane)
  expect(givesUp(plane)).toBeUndefined()
  await passWithTwo(plane)
  expect(givesUp(plane)).toBe(rebalance?.askedAt)
  await plane.stop()
})

test('nothing is given up before it is stored, and a failed write is repeated', async () => {
  const clock = new FakeClock()
  const written: string[] = []
  let isAway = true
  const begin = async (what: string) => {
    if (isAway) throw new SpoutError('Unavailable', { what: 'The store', reason: 'it is away' })
    written.push(what)
  }
  const again: string[] = []
  const moves = new BegunMoves({
    admission: {
      beginDrain: (...drained) => begin(drained.join(' ')),
      beginMove: (...move) => begin(move.join(' ')),
    },
    clock,
    log: silentLogger(),
    onFailed: (groupId) => again.push(groupId),
  })
  moves.beginDrain(GROUP, N1, NOW)
  await clock.advance(900)
  // The pause is not over yet.
  isAway = false
  moves.beginDrain(GROUP, N1, NOW)
  expect([again, written]).toEqual([[], []])
  await clock.advance(100)
  expect(again).toEqual([GROUP])
  moves.beginDrain(GROUP, N1, NOW)
  moves.beginDrain(GROUP, N1, NOW)
  moves.beginMove(GROUP, NOW, 2)
  expect(written).toEqual([`${N1} ${NOW}`, `${GROUP} ${NOW} 2`])
  moves.close()
  expect(clock.timers).toBe(0)
})
