import type { LoadBalancer, LoadBalancerSummary, LoadRates } from '@spout/model'
import { describe, expect, test } from 'vitest'
import { healthOf } from './health.ts'
import { LoadBalancerRows } from './load-balancer-rows.ts'
import { ownerOf } from './owner.ts'

const SERVES: LoadBalancerSummary = {
  ...{ provisioning: 'active', reason: 'Programmed', message: 'All is well.' },
  serving: { state: 'yes', reason: 'Serving', message: '2 of 2 members answer.', membersUp: 2, members: 2 },
  ...{ confirmedGeneration: 1, confirmedAt: null, ownerNodeId: null },
}
const partly = { ...SERVES.serving, state: 'partly', reason: 'MembersDown', message: 'One is down.' } as const
const none = { ...SERVES.serving, state: 'no', reason: 'AllMembersDown', message: 'All are down.' } as const
const bare = { ...SERVES.serving, state: 'no', reason: 'NoListeners', message: 'No listener is enabled.' } as const
const notice = { reason: 'LoadBalancerClassDisabled', message: 'Its class is disabled.' } as const

describe('health', () => {
  test.each<[string, Partial<LoadBalancerSummary>, string, string | null]>([
    ['serves', {}, 'ok', null],
    ['cannot be programmed', { provisioning: 'error', message: 'No node.' }, 'failed', 'No node.'],
    ['was not confirmed', { provisioning: 'pending', message: 'Waits.' }, 'pending', 'Waits.'],
    ['has a member that is down', { serving: partly }, 'degraded', 'One is down.'],
    ['has no member that answers', { serving: none }, 'failed', 'All are down.'],
    ['has no listener', { serving: bare }, 'pending', 'No listener is enabled.'],
    ['is of a class that is not offered', { notice }, 'degraded', 'Its class is disabled.'],
  ])('of one that %s', (_what, change, health, reason) =>
    expect(healthOf({ enabled: true }, { ...SERVES, ...change })).toEqual({ health, reason }),
  )

  test('of one that is disabled, whatever its nodes say', () =>
    expect(healthOf({ enabled: false }, { ...SERVES, provisioning: 'error' })).toMatchObject({ health: 'off' }))
})

describe('owner', () => {
  test.each([
    [
      { 'kubernetes.cluster': 'c', 'kubernetes.service.0b7e': 'shop/web' },
      { kind: 'service', name: 'shop/web', cluster: 'c' },
    ],
    [{ 'kubernetes.gateway.0b7e': 'edge/public' }, { kind: 'gateway', name: 'edge/public', cluster: null }],
    [{ 'octavia.provider': 'amphora' }, { kind: 'octavia', name: null, cluster: null }],
    [{ 'kubernetes.annotations': '{}', other: 'x' }, null],
  ])('%j', (annotations, owner) => expect(ownerOf({ annotations } as never)).toEqual(owner))
})

test('a row is made once, and again when its document, its status, its rates or the name of its project changes', () => {
  const document = {
    ...{ id: 'l', projectId: 'p', name: 'web', enabled: true, createdAt: 't', updatedAt: null, annotations: {} },
    ...{ vips: [{ address: '198.51.100.1' }], listeners: [{ routes: [{}, {}] }, {}] },
  } as unknown as LoadBalancer
  let [summary, project] = [SERVES, 'one']
  let rates: LoadRates | null = null
  const rows = new LoadBalancerRows({
    view: { get: () => ({ value: { name: project } }) } as never,
    status: { summary: () => summary },
    figures: { rates: () => rates },
  })
  const first = rows.of(document)
  expect(JSON.parse(first.text)).toEqual({
    ...{ id: 'l', projectId: 'p', projectName: 'one', name: 'web', health: 'ok', reason: null },
    ...{ vips: ['198.51.100.1'], listeners: 2, routes: 2, members: { total: 2, serving: 2 }, owner: null },
    ...{ createdAt: 't', updatedAt: null, connectionsPerSecond: null, bytesPerSecond: null },
  })
  expect(rows.of(document)).toBe(first)
  expect(rows.of({ ...document, name: 'other' }).text).toContain('"other"')
  summary = { ...SERVES, serving: none }
  expect(rows.of(document).text).toContain('"failed"')
  project = 'renamed'
  expect(rows.of(document).text).toContain('"renamed"')
  rates = { connectionsPerSecond: 1.234, bytesPerSecond: 98_765 }
  expect(JSON.parse(rows.of(document).text)).toMatchObject({ connectionsPerSecond: 1.2, bytesPerSecond: 99_000 })
})
