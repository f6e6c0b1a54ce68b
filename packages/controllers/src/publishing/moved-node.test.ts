import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, uuid, vrrpGroup } from '../testing/model.ts'

const MOVING = uuid('node', 1)
const EDGE = { nodeGroupId: uuid('group', 2) }

/** Two nodes of the first group, whose shards have the numbers of the second one's. */
async function begin(): Promise<ControlPlane> {
  const plane = await ControlPlane.start(new MemoryStore())
  await plane.put(['nodeGroup', vrrpGroup(1)], ['nodeGroup', vrrpGroup(2, 2, { name: 'edge' })])
  await plane.put(['node', node(1)], ['node', node(2)], ['network', network(1)])
  for (const number of [1, 2]) await plane.put(['loadBalancer', loadBalancer(number)])
  return plane
}

test('a node loses what it carries for its former group before it takes part in another one', async () => {
  const plane = await begin()
  const told: string[] = []
  const unsubscribe = plane.nodeStates.onChange(MOVING, (keys) => told.push(...keys))
  await plane.put(['node', node(1, EDGE)])
  unsubscribe()
  const lost = ['domain/1', ...[1, 2].map((number) => `lb/${uuid('lb', number)}`)]
  expect(told.toSorted()).toEqual([...lost, 'group'].sort())
  expect(told.at(-1)).toBe('group')
  for (const key of lost) expect(plane.entry(MOVING, key)).toBeNull()
  await plane.stop()
})

test('nodes of the new group plan without it until then', async () => {
  const plane = await begin()
  const there = uuid('node', 3)
  await plane.put(['node', node(3, EDGE)])
  const before = plane.entry(there, 'group')
  const seen: unknown[] = []
  const unsubscribe = plane.nodeStates.onChange(MOVING, () => seen.push(plane.entry(there, 'group')))
  await plane.put(['node', node(1, EDGE)])
  unsubscribe()
  expect(new Set(seen.slice(0, -1))).toEqual(new Set([before]))
  expect(plane.entry(there, 'group')).not.toEqual(before)
  await plane.stop()
})

test('a node that moves on at once takes part in the last group only', async () => {
  const plane = await begin()
  await plane.put(['nodeGroup', vrrpGroup(3, 2, { name: 'core' })])
  await plane.store.commit([{ op: 'put', kind: 'node', id: MOVING, scope: null, value: node(1, EDGE) }])
  await plane.put(['node', node(1, { nodeGroupId: uuid('group', 3) })])
  const entry = plane.entry(MOVING, 'group')
  expect(entry?.kind === 'group' && entry.vrrp?.shards.map(({ routerId }) => routerId)).toEqual([31, 32])
  expect([...plane.nodeStates.entries(MOVING)].map(({ key }) => key)).toEqual(['group'])
  await plane.stop()
})
