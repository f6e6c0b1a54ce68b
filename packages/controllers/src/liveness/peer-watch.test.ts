import { MemoryStore } from '@spout/store'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid } from '../testing/model.ts'

const N1 = uuid('node', 1)
const N2 = uuid('node', 2)
const LB = uuid('lb', 1)

let plane: ControlPlane

/** Two nodes of an `l2` group. The first owns load balancer 1 and has reported that. */
beforeEach(async () => {
  plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', nodeGroup(1)], ['node', node(1)], ['node', node(2)], ['network', network(1)])
  await plane.report(N1)
  await plane.report(N2)
  await plane.put(['loadBalancer', loadBalancer(1)])
  await plane.confirmAll(N1)
  await plane.confirmAll(N2)
})
afterEach(() => plane.stop())

const owner = () => plane.view.get('placement', LB)?.value.ownerNodeId
const watched = () => {
  const entry = plane.entry(N2, 'group')
  return entry?.kind === 'group' ? (entry.watch ?? []) : []
}
/** Lets time pass. Each second the second node reports whether the first answers its probes. */
const pass = async (seconds: number, answers: boolean) => {
  for (let second = 0; second < seconds; second++) {
    await plane.clock.advance(1000)
    await plane.sees(N2, answers)
  }
}

test('a silent node is probed at the address that it announced, and only while it is silent', async () => {
  await pass(2, true)
  expect(watched()).toEqual([])
  await pass(1, true)
  expect(watched()).toEqual([{ nodeId: N1, addresses: [loadBalancer(1).vips[0]?.address] }])
  await plane.report(N1)
  expect(watched()).toEqual([])
})

test('while it answers another node, it is disconnected and keeps its addresses, however long', async () => {
  await pass(600, true)
  expect(plane.status.node(N1).connection).toBe('disconnected')
  expect([plane.liveness.of(N1), owner()]).toEqual(['disconnected', N1])
  await plane.report(N1)
  expect([plane.liveness.of(N1), owner()]).toEqual(['connected', N1])
})

test('once it stops answering it loses its addresses at once', async () => {
  await pass(60, true)
  await plane.sees(N2, false)
  expect([plane.liveness.of(N1), owner()]).toEqual(['lost', N2])
  expect(watched()).toEqual([])
})

test('a node that does not answer is lost after the usual time', async () => {
  await pass(4, false)
  expect(owner()).toBe(N1)
  await pass(1, false)
  expect(owner()).toBe(N2)
})

test('a node that does not report a result is waited for 2 s', async () => {
  for (let second = 0; second < 6; second++) {
    await plane.clock.advance(1000)
    await plane.report(N2, { sights: [] })
  }
  expect(owner()).toBe(N1)
  await plane.clock.advance(1000)
  await plane.report(N2, { sights: [] })
  expect(owner()).toBe(N2)
})

test('when the control plane was cut off from all nodes, the first to return takes nothing from one that still answers', async () => {
  await plane.clock.advance(30_000)
  await plane.idle()
  expect([plane.liveness.of(N1), plane.liveness.of(N2)]).toEqual(['lost', 'lost'])
  await plane.report(N2)
  await plane.sees(N2, true)
  await pass(20, true)
  expect(owner()).toBe(N1)
})

test('a control plane that starts while a node is cut off has it probed before it moves its addresses', async () => {
  const again = await ControlPlane.start(plane.store)
  try {
    await again.report(N2)
    for (let second = 0; second < 20; second++) {
      await again.clock.advance(1000)
      await again.sees(N2, true)
    }
    expect([again.liveness.of(N1), again.view.get('placement', LB)?.value.ownerNodeId]).toEqual(['disconnected', N1])
    await again.sees(N2, false)
    expect(again.view.get('placement', LB)?.value.ownerNodeId).toBe(N2)
  } finally {
    await again.stop()
  }
})
