import type { Service } from '@spout/kube'
import type { LoadBalancer } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { CONDITION_PROGRAMMED } from '../names.ts'
import type { ShownLoadBalancer } from '../spout/load-balancer-service.ts'
import { service, uid } from '../testing/objects.ts'
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

const programmed = (lastTransitionTime: string): Service => ({
  ...service('web'),
  status: {
    conditions: [{ type: CONDITION_PROGRAMMED, status: 'True', reason: 'Programmed', message: '', lastTransitionTime }],
  },
})

describe('what nobody remembers', () => {
  const typeOf = (one: Service) => new Confirmations().progressOf(shown('pending'), one, null).type

  test.each([
    ['since', '2026-01-01T00:02:00Z', 'programmed'],
    ['in the second of its making', '2026-01-01T00:01:00Z', 'programmed'],
    ['before, of another', '2026-01-01T00:00:59Z', 'pending'],
  ])('a Service that said so %s', (_, at, expected) => {
    expect(typeOf(programmed(at))).toBe(expected)
  })

  test('a Service that never said so', () => {
    expect(typeOf(service('web'))).toBe('pending')
  })
})

test('a change of members alone takes nothing back, another listener does', () => {
  const confirmations = new Confirmations()
  const web = service('web')
  expect(confirmations.progressOf(shown('active'), web, null).type).toBe('programmed')
  expect(confirmations.progressOf(shown('pending', { generation: 2 }), web, null).type).toBe('programmed')
  const other = { generation: 3, listeners: [{ protocol: 'tcp', port: 81, allowedCidrs: [] }] }
  expect(confirmations.progressOf(shown('pending', other), web, null).type).toBe('pending')
})
