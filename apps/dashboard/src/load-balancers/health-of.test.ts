import { expect, it } from 'vitest'
import { healthOf, reasonOf } from './health-of.ts'

const WELL: Parameters<typeof healthOf>[0] = {
  loadBalancer: { id: 'a', name: 'shop', projectId: 'p', enabled: true },
  state: { provisioning: 'active', reason: 'Programmed', message: 'Programmed.' },
  serving: { state: 'yes', reason: 'Serving', message: '2 of 2 members answer.', membersUp: 2, members: 2 },
}

it('tells the health of a load balancer, and why', () => {
  expect([healthOf(WELL), reasonOf(WELL)]).toEqual(['ok', null])
  const partly = { ...WELL, serving: { ...WELL.serving, state: 'partly', message: 'One is down.' } as const }
  expect([healthOf(partly), reasonOf(partly)]).toEqual(['degraded', 'One is down.'])
  const none = { ...WELL, serving: { ...WELL.serving, state: 'no', reason: 'AllMembersDown' } as const }
  expect(healthOf(none)).toBe('failed')
  const empty = { ...WELL, serving: { ...WELL.serving, state: 'no', reason: 'NoListeners' } as const }
  expect(healthOf(empty)).toBe('pending')
  const waiting = { ...WELL, state: { ...WELL.state, provisioning: 'pending', message: 'It waits.' } as const }
  expect([healthOf(waiting), reasonOf(waiting)]).toEqual(['pending', 'It waits.'])
  expect(healthOf({ ...WELL, state: { ...WELL.state, provisioning: 'error' } })).toBe('failed')
  expect(healthOf({ ...WELL, loadBalancer: { ...WELL.loadBalancer, enabled: false } })).toBe('off')
})
