import type { LoadBalancer } from '@spout/model'
import { describe, expect, test } from 'vitest'
import type { ShownLoadBalancer } from '../control-plane/load-balancer-service.ts'
import { uid } from '../testing/objects.ts'
import { Confirmations } from './progress.ts'

const shown = (provisioning: 'active' | 'pending', more: object = {}): ShownLoadBalancer => ({
  document: {
    id: uid(9),
    createdAt: '2026-01-01T00:01:00.500Z',
    generation: 1,
    vips: [{ address: '198.51.100.1' }],
    listeners: [{ protocol: 'tcp', port: 80, allowedCidrs: [] }],
    ...more,
  } as unknown as LoadBalancer,
  status: {
    provisioning,
    reason: 'WaitingForNode',
    message: '',
    confirmedGeneration: provisioning === 'active' ? 1 : 0,
  },
})

describe('after a restart', () => {
  const typeOf = (since: string | null) => new Confirmations().progressOf(shown('pending'), since, null).type

  test.each([
    ['since', '2026-01-01T00:02:00Z', 'programmed'],
    ['in the second of its making', '2026-01-01T00:01:00Z', 'programmed'],
    ['before, of another', '2026-01-01T00:00:59Z', 'pending'],
  ])('an object that was programmed %s', (_, at, expected) => {
    expect(typeOf(at)).toBe(expected)
  })

  test('an object that is not programmed', () => {
    expect(typeOf(null)).toBe('pending')
  })
})

test('a change of members alone keeps it programmed, another listener does not', () => {
  const confirmations = new Confirmations()
  expect(confirmations.progressOf(shown('active'), null, null).type).toBe('programmed')
  expect(confirmations.progressOf(shown('pending', { generation: 2 }), null, null).type).toBe('programmed')
  const other = { generation: 3, listeners: [{ protocol: 'tcp', port: 81, allowedCidrs: [] }] }
  expect(confirmations.progressOf(shown('pending', other), null, null).type).toBe('pending')
})
