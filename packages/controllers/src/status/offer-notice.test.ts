import { availabilityZone, loadBalancerClass } from '@spout/model'
import { MemoryStore } from '@spout/store'
import { expect, test } from 'vitest'
import { ControlPlane } from '../testing/control-plane.ts'
import { loadBalancer, network, node, nodeGroup, uuid } from '../testing/model.ts'

const N1 = uuid('node', 1)
const LB = uuid('lb', 1)
const OTHER = uuid('lb', 2)
const meta = { description: '', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null, nodeGroupId: null }
const gold = (fields: object = {}) =>
  loadBalancerClass.parse({
    ...{ ...meta, id: uuid('other', 1), name: 'gold', enabled: true, connectionLimit: null, monitor: null },
    ...fields,
  })
const east = (fields: object = {}) =>
  availabilityZone.parse({ ...meta, id: uuid('other', 2), name: 'east', enabled: true, ...fields })

test.each([
  [
    'disabled class',
    'loadBalancerClass',
    gold({ enabled: false }),
    'LoadBalancerClassDisabled',
    'Its class gold was d',
  ],
  [
    'class that was closed to its project',
    'loadBalancerClass',
    gold({ projectIds: [uuid('other', 9)] }),
    'LoadBalancerClassClosed',
    'Its class was closed to the project.',
  ],
  [
    'disabled zone',
    'availabilityZone',
    east({ enabled: false }),
    'AvailabilityZoneDisabled',
    'zone east was disabled.',
  ],
] as const)('a load balancer of a %s goes on, says so at once, and no more once it is open', async (...row) => {
  const [, kind, closed, reason, words] = row
  const plane = await ControlPlane.start(new MemoryStore())
  const open = kind === 'loadBalancerClass' ? gold() : east()
  const of = kind === 'loadBalancerClass' ? { classId: open.id } : { zoneId: open.id }
  await plane.put(
    ...([
      [kind, open],
      ['nodeGroup', nodeGroup(1)],
      ['node', node(1)],
      ['network', network(1)],
    ] as const),
    ...([
      ['loadBalancer', loadBalancer(1, of)],
      ['loadBalancer', loadBalancer(2)],
    ] as const),
  )
  await plane.report(N1)
  await plane.confirmAll(N1)
  const before = plane.status.summary(LB)
  expect(before).toMatchObject({ provisioning: 'active' })
  expect(before).not.toHaveProperty('notice')
  const told: string[] = []
  plane.status.onChange((what, id) => {
    if (what === 'loadBalancer') told.push(id)
  })
  await plane.put([kind, closed])
  expect(plane.status.summary(LB)).toEqual({ ...before, notice: { reason, message: expect.stringContaining(words) } })
  expect(plane.status.summary(OTHER)).not.toHaveProperty('notice')
  expect(told).toEqual([LB])
  await plane.put([kind, open])
  expect(plane.status.summary(LB)).toEqual(before)
  expect(told).toEqual([LB, LB])
  await plane.stop()
})
