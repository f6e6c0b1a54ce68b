import type { NodeGroup } from '@spout/model'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Office, openOffice, refusal } from '../testing/office.ts'

const NOBODY = '00000000-0000-4000-8000-00000000dead'

let office: Office
let group: NodeGroup
beforeEach(async () => {
  office = await openOffice()
  group = await office.admission.createNodeGroup({ name: 'a' })
})
afterEach(() => office.close())

async function enrol(name: string): Promise<string> {
  const draft = { nodeName: name, nodeGroupId: group.id, ttlSeconds: 60 }
  const { secret } = await office.admission.createEnrolmentToken(draft)
  const { id } = await office.admission.enrolNode(secret, async () => 'a'.repeat(64))
  return id
}

it('a drain waits until it is said to have begun, and the next one waits again', async () => {
  const id = await enrol('n1')
  const begunAt = () => office.view.get('node', id)?.value.drainBegunAt
  const first = (await office.admission.setNodeScheduling(id, 'draining')).drainedSince ?? ''
  expect(begunAt()).toBeNull()
  office.later(1000)
  await office.admission.beginDrain(id, first)
  expect(begunAt()).toBe('2026-01-01T00:00:01.000Z')
  office.later(1000)
  await office.admission.beginDrain(id, first)
  expect(begunAt()).toBe('2026-01-01T00:00:01.000Z')
  await office.admission.setNodeScheduling(id, 'enabled')
  const second = (await office.admission.setNodeScheduling(id, 'draining')).drainedSince ?? ''
  expect(begunAt()).toBeNull()
  // What is said of an earlier drain comes too late.
  await office.admission.beginDrain(id, first)
  expect(begunAt()).toBeNull()
  await office.admission.setNodeScheduling(id, 'enabled')
  await office.admission.beginDrain(id, second)
  expect(begunAt()).toBeNull()
  expect(await refusal(office.admission.beginDrain(NOBODY, second))).toMatchObject({ code: 'NotFound' })
})

it('the moves of a request begin one by one, and those of the next one have not', async () => {
  const [fromNodeId, toNodeId] = [await enrol('n1'), await enrol('n2')]
  const moves = [1, 2].map((shard) => ({ shard, fromNodeId, toNodeId }))
  const begun = () => office.view.get('nodeGroup', group.id)?.value.rebalance?.begun
  const ask = async () => (await office.admission.rebalanceNodeGroup(group.id, () => moves)).rebalance?.askedAt ?? ''
  const first = await ask()
  expect(begun()).toBeUndefined()
  for (const shard of [2, 1, 2]) await office.admission.beginMove(group.id, first, shard)
  expect(begun()).toEqual([2, 1])
  // Nobody asked for this one.
  await office.admission.beginMove(group.id, first, 3)
  expect(begun()).toEqual([2, 1])
  office.later(1000)
  await ask()
  await office.admission.beginMove(group.id, first, 1)
  expect(begun()).toBeUndefined()
  expect(await refusal(office.admission.beginMove(NOBODY, first, 1))).toMatchObject({ code: 'NotFound' })
})
