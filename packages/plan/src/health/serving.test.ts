import type { LoadBalancer, Member, MemberHealth, Pool } from '@spout/model'
import { expect, it } from 'vitest'
import { id, listener, loadBalancer, member, pool } from '../testing/documents.ts'
import { servingOf } from './serving.ts'

const servingWith = (document: LoadBalancer, health: ReadonlyMap<string, MemberHealth>) =>
  servingOf(document, (_, id) => health.get(id))

const members = [member(11), member(12), member(13)]

const behind = (used: readonly Member[], change: Partial<Pool> = {}): LoadBalancer =>
  loadBalancer(1, {
    listeners: [listener(5, 80, { defaultPoolId: id(6) })],
    pools: [pool(6, [...used], change)],
  })

const down = (...ids: readonly number[]): ReadonlyMap<string, MemberHealth> =>
  new Map(
    ids.map((number) => [
      id(number),
      {
        ...{ loadBalancerId: id(1), poolId: id(6), memberId: id(number), health: 'down' as const },
        ...{ reason: 'connection refused', since: '2026-01-01T00:00:00.000Z' },
      },
    ]),
  )

it.each<[string, LoadBalancer, ReadonlyMap<string, MemberHealth>, object]>([
  ['all answer', behind(members), new Map(), { state: 'yes', reason: 'Serving', membersUp: 3, members: 3 }],
  [
    'some are down',
    behind(members),
    down(12),
    {
      ...{ state: 'partly', reason: 'MembersDown', membersUp: 2, members: 3 },
      message: '2 of 3 members answer. Down: 10.0.0.22:80 (connection refused).',
    },
  ],
  [
    'all are down',
    behind(members),
    down(11, 12, 13),
    { state: 'no', reason: 'AllMembersDown', membersUp: 0, members: 3 },
  ],
  [
    'all are down and still get traffic',
    behind([member(11)], { panicThreshold: 50 }),
    down(11),
    {
      ...{ state: 'no', reason: 'AllMembersDown' },
      message:
        '0 of 1 member answers. Down: 10.0.0.21:80 (connection refused). Connections are sent to them all the same, since all failed at once.',
    },
  ],
  ['nobody is there', behind([]), new Map(), { state: 'no', reason: 'NoMembers', membersUp: 0, members: 0 }],
  ['all have weight 0', behind([member(11, { weight: 0 })]), new Map(), { state: 'no', reason: 'NoMembers' }],
  ['the pool is disabled', behind(members, { enabled: false }), new Map(), { state: 'no', reason: 'NoMembers' }],
  ['a listener has no pool', loadBalancer(1, { listeners: [listener(5, 80)] }), new Map(), { reason: 'NoPool' }],
  ['nothing listens', loadBalancer(1, { listeners: [], pools: [] }), new Map(), { state: 'no', reason: 'NoListeners' }],
  ['it is disabled', { ...behind(members), enabled: false }, new Map(), { state: 'no', reason: 'Disabled' }],
])('%s', (_, document, health, expected) => {
  expect(servingWith(document, health)).toMatchObject(expected)
})

it('names some of many that are down', () => {
  const many = Array.from({ length: 10 }, (_, n) => member(100 + n))
  const { message } = servingWith(behind(many), down(...many.slice(1).map((_, n) => 101 + n)))
  expect(message).toMatch(
    /^1 of 10 members answer\. Down: (\S+ \(connection refused\), ){2}\S+ \(connection refused\) and 6 more\.$/,
  )
})

it('a listener that answers with figures needs no pool', () => {
  const used = behind(members)
  const figures = listener(7, 9100, { protocol: 'metrics', defaultPoolId: null })
  expect(servingWith({ ...used, listeners: [...used.listeners, figures] }, new Map())).toMatchObject({ state: 'yes' })
  const web = { ...figures, protocol: 'http' as const }
  expect(servingWith({ ...used, listeners: [...used.listeners, web] }, new Map())).toMatchObject({ reason: 'NoPool' })
})

it('a listener that passes all TLS on to one that ends it on its port needs none, while that one is enabled', () => {
  const passing = listener(7, 443, { protocol: 'tls-passthrough', defaultPoolId: null })
  const of = (enabled: boolean) => {
    const used = behind(members)
    const ending = listener(8, 443, { protocol: 'https', defaultPoolId: id(6), enabled })
    return servingWith({ ...used, listeners: [...used.listeners, passing, ending] }, new Map())
  }
  expect([of(true), of(false)]).toMatchObject([{ state: 'yes' }, { state: 'no', reason: 'NoPool' }])
})

it('a pool that no listener uses does not count', () => {
  const document = behind([member(11)])
  const more = { ...document, pools: [...document.pools, pool(7, [member(12)])] }
  expect(servingWith(more, down(12))).toMatchObject({ state: 'yes', members: 1 })
})

it('asks for nothing of pools that get copies alone', () => {
  const action = { type: 'forward' as const, pools: [{ poolId: id(6), weight: 1 }] }
  const served = (mirrors: { poolId: string; percent: number }[]) => {
    const route = { ...metaOf(4), enabled: true, conditions: [], action: { ...action, mirrors } }
    const copied = loadBalancer(1, {
      listeners: [listener(5, 80, { protocol: 'http', routes: [route] })],
      pools: [pool(6, [member(11)], { protocol: 'http' }), pool(7, [], { protocol: 'http' })],
    })
    return servingWith(copied, new Map())
  }
  expect(served([{ poolId: id(7), percent: 100 }])).toMatchObject({ state: 'yes', membersUp: 1, members: 1 })
})

const metaOf = (number: number) => ({
  ...{ id: id(number), name: '', description: '', tags: [] },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: null },
})
