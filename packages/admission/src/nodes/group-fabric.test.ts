import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Office, openOffice, refusal } from '../testing/office.ts'

let office: Office
beforeEach(async () => {
  office = await openOffice()
})
afterEach(() => office.close())

/** A group with this interface, and one node in it. */
async function groupWithNode(fabric: { readonly interface: string } | null) {
  const group = await office.admission.createNodeGroup({ name: 'edge', fabric })
  const { secret } = await office.admission.createEnrolmentToken({
    nodeName: 'node1',
    nodeGroupId: group.id,
    ttlSeconds: 60,
  })
  await office.admission.enrolNode(secret, async () => 'a'.repeat(64), null)
  return group
}

test('a group names an interface, or an address in its network in canonical form', async () => {
  const { admission } = office
  const group = await admission.createNodeGroup({ name: 'edge', fabric: { reaches: '2001:db8::01' } })
  expect(group.fabric).toEqual({ reaches: '2001:db8::1' })
  expect((await admission.changeNodeGroup(group.id, { fabric: { interface: 'bond0' } })).fabric).toEqual({
    interface: 'bond0',
  })
  expect((await admission.changeNodeGroup(group.id, { description: 'x' })).fabric).toEqual({ interface: 'bond0' })
  expect(await admission.changeNodeGroup(group.id, { fabric: null })).not.toHaveProperty('fabric')
  expect(await admission.createNodeGroup({ name: 'plain', fabric: null })).not.toHaveProperty('fabric')
})

test.each([
  [{}, 'must have either interface or reaches'],
  [{ interface: 'bond0', reaches: '192.0.2.1' }, 'must have either interface or reaches'],
  [{ interface: 'a b' }, 'is not the name of a network interface'],
  [{ interface: 'sixteen-letters0' }, 'is not the name of a network interface'],
  [{ reaches: '127.0.0.1' }, '127.0.0.1 is not allowed: loopback'],
])('%o is refused with the field and the reason', async (fabric, words) => {
  const refused = await refusal(office.admission.createNodeGroup({ name: 'edge', fabric }))
  expect(refused.message).toContain('fabric')
  expect(refused.message).toContain(words)
})

test('it does not change while the group has nodes, which would all give up what they have', async () => {
  const { admission } = office
  const group = await groupWithNode({ interface: 'bond0' })
  for (const fabric of [{ interface: 'bond1' }, null]) {
    const refused = await refusal(admission.changeNodeGroup(group.id, { fabric }))
    expect(refused).toMatchObject({ code: 'InvalidField', field: 'fabric' })
    expect(refused.message).toContain('while the group has nodes, such as node1: make another group')
  }
  expect((await admission.changeNodeGroup(group.id, { fabric: { interface: 'bond0' } })).fabric).toEqual({
    interface: 'bond0',
  })
})

test('a group that names none gets none while it has nodes', async () => {
  const group = await groupWithNode(null)
  const refused = await refusal(office.admission.changeNodeGroup(group.id, { fabric: { interface: 'bond1' } }))
  expect(refused).toMatchObject({ code: 'InvalidField', field: 'fabric' })
})
