import type { ShardReport, ShardState } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid, vrrpGroup } from '../testing/model.ts'

const [N1, N2] = [1, 2].map((number) => uuid('node', number)) as [string, string]
const [LB, OTHER] = [1, 2].map((number) => uuid('lb', number)) as [string, string]
const GROUP = uuid('group', 1)

const status = (plane: ControlPlane, id = LB) => {
  const { provisioning, reason, ownerNodeId } = plane.status.summary(id)
  return { provisioning, reason, ownerNodeId }
}

test('where one node is chosen, it moves to another, and is pending until that one has it', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['node', node(2)])
  await plane.put(['network', network(1, { returnPath: 'gateway' })])
  for (const id of [N1, N2]) await plane.report(id)
  for (const number of [1, 2]) await plane.put(['loadBalancer', loadBalancer(number)])
  for (const id of [N1, N2]) await plane.confirmAll(id)
  expect(status(plane)).toEqual({ provisioning: 'active', reason: 'Programmed', ownerNodeId: N1 })

  for (const number of [1, 2])
    await plane.put(['loadBalancer', loadBalancer(number, { generation: 2, leftNodeId: N1 })])
  await plane.confirmAll(N1)
  for (const id of [LB, OTHER])
    expect(status(plane, id)).toEqual({ provisioning: 'pending', reason: 'WaitingForNode', ownerNodeId: N2 })
  await plane.confirmAll(N2)
  for (const id of [LB, OTHER])
    expect(status(plane, id)).toEqual({ provisioning: 'active', reason: 'Programmed', ownerNodeId: N2 })
  await plane.stop()
})

const shard = (state: ShardState, since = '2026-01-01T00:00:10.000Z'): ShardReport => ({
  ...{ number: 1, state, since, takeovers: 0 },
  lastMove: null,
})

/** A load balancer in a shard that the first node owns and was told to give up. */
async function leaving(): Promise<ControlPlane> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', vrrpGroup(1, 1)], ['node', node(1)], ['node', node(2)], ['network', network(1)])
  await plane.report(N1, { shards: [shard('master')] })
  await plane.report(N2, { shards: [shard('backup')] })
  await plane.put(['loadBalancer', loadBalancer(1)])
  for (const id of [N1, N2]) await plane.confirmAll(id)
  expect(status(plane).provisioning).toBe('active')
  await plane.admission.rebalanceNodeGroup(GROUP, () => [{ shard: 1, fromNodeId: N1, toNodeId: N2 }])
  await plane.put(['loadBalancer', loadBalancer(1, { generation: 2, leftNodeId: N1 })])
  for (const id of [N1, N2]) await plane.confirmAll(id)
  return plane
}

test('in a shard, it is pending until the shard has left the node', async () => {
  const plane = await leaving()
  expect(status(plane)).toEqual({ provisioning: 'pending', reason: 'FailingOver', ownerNodeId: N1 })
  expect(plane.status.summary(LB).message).toBe('Shard 1 of group `default` leaves node `n1`')
  await plane.report(N2, { shards: [shard('master', '2026-01-01T00:00:20.000Z')] })
  await plane.report(N1, { shards: [shard('backup', '2026-01-01T00:00:20.000Z')] })
  expect(status(plane)).toEqual({ provisioning: 'active', reason: 'Programmed', ownerNodeId: N2 })
  await plane.stop()
})

test('it is active where it was when the move has had its time, and listeners are told', async () => {
  const plane = await leaving()
  for (let second = 0; second < 14; second++) {
    await plane.clock.advance(1000)
    for (const id of [N1, N2]) await plane.report(id)
  }
  expect(status(plane).reason).toBe('FailingOver')
  const told: string[] = []
  plane.status.onChange((kind, id) => {
    if (kind === 'loadBalancer') told.push(id)
  })
  await plane.clock.advance(2000)
  expect(status(plane)).toMatchObject({ provisioning: 'active', ownerNodeId: N1 })
  expect(told).toEqual([LB])
  await plane.stop()
})
