import type { LoadBalancer } from '@spout/model'
import { silentLogger } from '@spout/runtime'
import { FakeClock } from '@spout/runtime/fake-clock'
import { beforeEach, describe, expect, test } from 'vitest'
import { CLUSTER_ANNOTATION } from '../content/owners.ts'
import { uid } from '../testing/objects.ts'
import { KnownLoadBalancers } from './known-load-balancers.ts'
import type { LoadBalancerService, ShownLoadBalancer } from './load-balancer-service.ts'

const ID = uid(9)
const shown = (
  provisioning: ShownLoadBalancer['status']['provisioning'],
  confirmedGeneration: number,
  more: Partial<LoadBalancer> = {},
): ShownLoadBalancer => ({
  document: {
    id: ID,
    annotations: { [CLUSTER_ANNOTATION]: 'c' },
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: null,
    generation: 1,
    ...more,
  } as LoadBalancer,
  status: { provisioning, reason: 'r', message: '', confirmedGeneration },
})

let known: KnownLoadBalancers
let told: number
beforeEach(() => {
  // The control plane is never called: the test passes in what it would show.
  const service = {} as LoadBalancerService
  known = new KnownLoadBalancers({
    kind: 'service',
    service,
    cluster: 'c',
    clock: new FakeClock(),
    log: silentLogger(),
  })
  told = 0
  known.onChange(() => told++)
})

describe("a write's answer that comes after what the watch showed", () => {
  test('of the same version does not take the status back', () => {
    known.note(shown('active', 1))
    known.answered(shown('pending', 0))
    expect(known.get(ID)?.status.provisioning).toBe('active')
    expect(told).toBe(1)
  })

  test('of a newer version counts, with its status', () => {
    known.note(shown('active', 1))
    known.answered(shown('pending', 1, { generation: 2, updatedAt: '2026-01-01T00:00:01.000Z' }))
    expect(known.get(ID)).toMatchObject({ document: { generation: 2 }, status: { provisioning: 'pending' } })
  })

  test('of an older version is ignored', () => {
    known.note(shown('active', 2, { generation: 2, updatedAt: '2026-01-01T00:00:01.000Z' }))
    known.answered(shown('pending', 0))
    expect(known.get(ID)).toMatchObject({ document: { generation: 2 }, status: { provisioning: 'active' } })
  })
})

test('the watch changes the status of the same version, both ways', () => {
  known.answered(shown('pending', 0))
  known.note(shown('active', 1))
  expect(known.get(ID)?.status.provisioning).toBe('active')
  known.note(shown('pending', 1))
  expect(known.get(ID)?.status.provisioning).toBe('pending')
  expect(told).toBe(3)
})
