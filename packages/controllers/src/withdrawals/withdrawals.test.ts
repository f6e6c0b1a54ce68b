import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid } from '../testing/model.ts'

const N1 = uuid('node', 1)
const N2 = uuid('node', 2)
const LB = uuid('lb', 1)
const KEY = `lb/${LB}`

/** Two nodes that hold load balancer 1 and said so. */
async function carried(): Promise<ControlPlane> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['node', node(2)], ['network', network(1)])
  await plane.report(N1)
  await plane.report(N2)
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.confirmAll(N1)
  await plane.confirmAll(N2)
  return plane
}

const waits = (plane: ControlPlane) => {
  const { withdrawn, overdue, waitingFor } = plane.status.withdrawals.withdrawal(LB)
  return { withdrawn, overdue, nodes: waitingFor.map(({ nodeName }) => nodeName).sort() }
}

const DONE = { withdrawn: true, overdue: false, nodes: [] }
const waitingFor = (...nodes: string[]) => ({ withdrawn: false, overdue: false, nodes })

test('a load balancer is withdrawn once every node that had it reports its removal', async () => {
  const plane = await carried()
  expect(waits(plane).withdrawn).toBe(false)
  let told = 0
  plane.status.withdrawals.onChange(() => told++)
  await plane.delete('loadBalancer', LB)
  expect(plane.nodeStates.get(N1, KEY)).toBeNull()
  expect(waits(plane)).toEqual(waitingFor('n1', 'n2'))
  expect(plane.status.withdrawals.withdrawal(LB).projectId).toBe(loadBalancer(1).projectId)
  await plane.report(N1, { removed: [KEY] })
  expect(waits(plane)).toEqual(waitingFor('n2'))
  const before = told
  await plane.report(N2, { removed: [KEY] })
  expect(waits(plane)).toEqual(DONE)
  expect(told).toBeGreaterThan(before)
  await plane.stop()
})

test('a node that never confirmed it is waited for, and its report of the removal counts', async () => {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['network', network(1)])
  await plane.report(N1)
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.delete('loadBalancer', LB)
  await plane.report(N1)
  expect(waits(plane)).toEqual(waitingFor('n1'))
  await plane.report(N1, { removed: [KEY] })
  expect(waits(plane)).toEqual(DONE)
  await plane.stop()
})

test('lost and deleted nodes are not waited for', async () => {
  const plane = await carried()
  await plane.delete('loadBalancer', LB)
  await plane.report(N1, { removed: [KEY] })
  await plane.clock.advance(3100)
  await plane.report(N1)
  await plane.sees(N1, false)
  expect(plane.status.node(N2).connection).toBe('disconnected')
  expect(waits(plane)).toEqual(waitingFor('n2'))
  await plane.clock.advance(2000)
  expect(plane.liveness.of(N2)).toBe('lost')
  expect(waits(plane)).toEqual(DONE)
  await plane.stop()

  const other = await carried()
  await other.delete('loadBalancer', LB)
  await other.report(N1, { removed: [KEY] })
  await other.delete('node', N2)
  expect(waits(other)).toEqual(DONE)
  await other.stop()
})

test('a node that cannot remove it reports why, and after half a minute it is overdue', async () => {
  const plane = await carried()
  await plane.delete('loadBalancer', LB)
  await plane.report(N1, { removed: [KEY] })
  const failed = { key: KEY, hash: 'x', state: 'failed', reason: 'WithdrawFailed', announced: [] } as const
  await plane.report(N2, { entries: [{ ...failed, message: 'no such device' }] })
  expect(plane.status.withdrawals.withdrawal(LB).waitingFor).toEqual([
    { nodeId: N2, nodeName: 'n2', connection: 'connected', message: 'no such device' },
  ])
  for (let second = 0; second < 30; second++) {
    expect(waits(plane).overdue).toBe(false)
    await plane.clock.advance(1000)
    await plane.report(N1)
    await plane.report(N2)
  }
  expect(waits(plane)).toEqual({ withdrawn: false, overdue: true, nodes: ['n2'] })
  await plane.report(N2, { removed: [KEY] })
  expect(waits(plane)).toEqual(DONE)
  await plane.stop()
})

test('after a restart nothing counts as withdrawn before every node reported everything, or is lost', async () => {
  const before = await carried()
  await before.delete('loadBalancer', LB)
  const entries = [...[N1]].map(() => ({
    ...{ key: KEY, hash: 'x', state: 'programmed' as const, reason: null, message: null },
    announced: ['198.18.0.2'],
  }))
  await before.stop()
  const plane = await ControlPlane.start(before.store, before.clock)
  expect(waits(plane)).toEqual(waitingFor('n1', 'n2'))
  const again = { session: 'session-1', inSync: false }
  expect(await plane.report(N1, { ...again, sequence: 40 })).toEqual({ resend: true })
  expect(waits(plane)).toEqual(waitingFor('n1', 'n2'))
  await plane.report(N1, { sequence: 41, entries })
  expect(waits(plane)).toEqual(waitingFor('n1', 'n2'))
  await plane.report(N1, { sequence: 42, removed: [KEY] })
  expect(waits(plane)).toEqual(waitingFor('n2'))
  await plane.clock.advance(5100)
  expect(waits(plane).withdrawn).toBe(true)
  await plane.stop()
})

test('a load balancer that exists again is not withdrawn', async () => {
  const plane = await carried()
  await plane.delete('loadBalancer', LB)
  await plane.put(['loadBalancer', loadBalancer(1)])
  expect(waits(plane).withdrawn).toBe(false)
  await plane.report(N1, { removed: [KEY] })
  await plane.report(N2, { removed: [KEY] })
  expect(waits(plane).withdrawn).toBe(false)
  await plane.stop()
})
