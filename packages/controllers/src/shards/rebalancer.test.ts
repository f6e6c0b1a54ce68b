import { bgpPeer, type GroupEntry, type ShardReport, type ShardState } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, uuid, vrrpGroup } from '../testing/model.ts'
import { Rebalancer } from './rebalancer.ts'

const [N1, N2] = [1, 2].map((number) => uuid('node', number)) as [string, string]
const GROUP = uuid('group', 1)
const MOVE = { shard: 2, fromNodeId: N1, toNodeId: N2 }

const shard = (number: number, state: ShardState, lastMove: ShardReport['lastMove'] = null): ShardReport => ({
  ...{ number, state, since: '2026-01-01T00:00:10.000Z', takeovers: 0 },
  lastMove,
})

const takenOver: ShardReport = { ...shard(2, 'master'), since: '2026-01-01T00:00:20.000Z' }

/** The first node owns both shards. */
async function cluster(changes: Parameters<typeof vrrpGroup>[2] = {}): Promise<ControlPlane> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', vrrpGroup(1, 2, changes)], ['node', node(1)], ['node', node(2)])
  await plane.report(N1, { shards: [shard(1, 'master'), shard(2, 'master')] })
  await plane.report(N2, { shards: [shard(1, 'backup'), shard(2, 'backup')] })
  for (const id of [N1, N2]) await plane.confirmAll(id)
  return plane
}

const part = (plane: ControlPlane, nodeId: string) => plane.entry(nodeId, 'group') as GroupEntry | null
const shardOf = (plane: ControlPlane, nodeId: string, number: number) =>
  part(plane, nodeId)?.vrrp?.shards.find((each) => each.number === number)

test('a shard is handed over once its new owner knows of it, and only until the new owner has it', async () => {
  const plane = await cluster()
  const { rebalance } = await plane.admission.rebalanceNodeGroup(GROUP, () => [MOVE])
  await plane.idle()
  expect(shardOf(plane, N1, 2)).not.toHaveProperty('handOver')
  expect(shardOf(plane, N2, 2)?.priority).toBe(254)
  // Connections of the proxy stay where they are.
  expect(part(plane, N2)?.secondChance).toMatchObject({ first: '192.0.2.1', leavingSince: null })
  const handedOver = { shards: [2], since: rebalance?.askedAt }
  expect(part(plane, N1)?.secondChance).toMatchObject({ first: null, leavingSince: null, handedOver })
  await plane.confirmAll(N2)
  expect(shardOf(plane, N1, 2)?.handOver).toBe(rebalance?.askedAt)
  expect(shardOf(plane, N1, 1)).not.toHaveProperty('handOver')
  expect(shardOf(plane, N2, 2)).not.toHaveProperty('handOver')
  await plane.report(N2, { shards: [shard(1, 'backup'), takenOver] })
  await plane.clock.advance(200)
  await plane.idle()
  expect(shardOf(plane, N1, 2)).not.toHaveProperty('handOver')
  await plane.stop()
})

test('a shard is not handed over to a node that is not in sync', async () => {
  const plane = await cluster()
  await plane.report(N2, { inSync: false })
  await plane.admission.rebalanceNodeGroup(GROUP, () => [MOVE])
  await plane.clock.advance(3000)
  await plane.idle()
  expect(shardOf(plane, N1, 2)).not.toHaveProperty('handOver')
  await plane.report(N2, { inSync: true })
  await plane.confirmAll(N2)
  expect(shardOf(plane, N1, 2)).toHaveProperty('handOver')
  await plane.stop()
})

test('a shard is not handed over to a node that cannot announce it, while another could', async () => {
  const bgp = { localAs: 64_512, policy: 'always' as const, drainSeconds: 10 }
  const plane = await cluster({ announcer: 'bgp', bgp })
  const router = bgpPeer.parse({
    ...{ id: uuid('other', 1), name: 'tor', description: '', createdAt: takenOver.since, updatedAt: null },
    ...{ address: '192.0.2.254', as: 64_513 },
  })
  await plane.put(['bgpPeer', router])
  const session = (state: 'established' | 'active') => [
    { peerId: router.id, state, since: takenOver.since, announced: 0, lastError: null, bfd: null },
  ]
  await plane.report(N1, { bgpSessions: session('established') })
  await plane.report(N2, { bgpSessions: session('active') })
  await plane.admission.rebalanceNodeGroup(GROUP, () => [MOVE])
  await plane.clock.advance(3000)
  for (const id of [N1, N2]) await plane.confirmAll(id)
  await plane.idle()
  expect(shardOf(plane, N1, 2)).not.toHaveProperty('handOver')
  await plane.report(N2, { bgpSessions: session('established') })
  await plane.clock.advance(200)
  await plane.idle()
  expect(shardOf(plane, N1, 2)).toHaveProperty('handOver')
  await plane.stop()
})

test('the reason of a planned move is in the history, whichever node reports first', async () => {
  const plane = await cluster()
  await plane.put(['network', network(1)], ['network', network(2)])
  await plane.put(['loadBalancer', loadBalancer(1)], ['loadBalancer', loadBalancer(2, { network: 2 })])
  await plane.report(N2, { shards: [shard(1, 'backup'), takenOver] })
  const at = takenOver.since
  const gaveUp = { at, from: 'master', to: 'fault', reason: 'rebalanced', silentMs: null } as const
  await plane.report(N1, { shards: [shard(1, 'master'), { ...shard(2, 'fault', gaveUp), since: at }] })
  expect(plane.status.shard(GROUP, 2)?.ownerNodeId).toBe(N2)
  const histories = [1, 2].map((number) => plane.status.history(uuid('lb', number), `198.18.0.${number + 1}`))
  expect(histories.find((moves) => moves.length > 1)?.slice(-2)).toMatchObject([
    { event: 'released', nodeId: N1, reason: 'rebalanced' },
    { event: 'taken', nodeId: N2, fromNodeId: N1 },
  ])
  await plane.stop()
})

test('a group that asks for it is rebalanced after a quiet time, another one never', async () => {
  for (const [rebalanceAfterSeconds, wanted] of [
    [5, [MOVE]],
    [0, undefined],
  ] as const) {
    const plane = await cluster({ rebalanceAfterSeconds })
    const { view, status, clock, admission } = plane
    const rebalancer = new Rebalancer({ view, status, clock, admission, log: silentLogger() })
    const movesAfter = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed++) {
        await plane.clock.advance(1000)
        for (const id of [N1, N2]) await plane.report(id)
        await rebalancer.look()
      }
      return view.get('nodeGroup', GROUP)?.value.rebalance?.moves
    }
    await rebalancer.look()
    expect(await movesAfter(3)).toBeUndefined()
    // After a change the waiting time starts again.
    await plane.report(N2, { inSync: false })
    await rebalancer.look()
    expect(await movesAfter(4)).toBeUndefined()
    expect(await movesAfter(2)).toEqual(wanted)
    await plane.stop()
  }
})
