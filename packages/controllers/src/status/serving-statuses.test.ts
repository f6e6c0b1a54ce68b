import { expect, test } from 'vitest'
import { loadBalancer, pool } from '../testing/model.ts'
import { ServingStatuses } from './serving-statuses.ts'

test('another entry on the same nodes costs no look at all members; another place does', () => {
  let looks = 0
  let places = 'node1'
  const statuses = new ServingStatuses(
    {
      healthOf: () => {
        looks++
        return () => undefined
      },
      members: () => new Map(),
      overShares: () => [],
      logTroubles: () => [],
      places: () => places,
    },
    () => null,
  )
  const balancer = loadBalancer(1, { pools: [pool(1, ['10.0.0.11'])] })
  const first = statuses.of(balancer)
  statuses.entryChanged(balancer.id)
  expect(statuses.of(balancer)).toBe(first)
  expect(looks).toBe(1)
  places = 'node1 node2'
  statuses.entryChanged(balancer.id)
  expect(statuses.of(balancer)).toEqual(first)
  expect(looks).toBe(2)
})
