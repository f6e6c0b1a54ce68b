import type { LoadBalancer, Pool } from '@spout/model'
import { expect, test } from 'vitest'
import {
  id,
  listenerOf,
  loadBalancerOf,
  memberOf,
  PENDING,
  poolOf,
  statusOf,
  tcpMonitorOf,
} from '../testing/fixtures.ts'
import { KnownPools, operatingStatuses } from './operating-status.ts'

type Status = Parameters<typeof statusOf>[0]
type Words = Partial<Record<'lb' | 'listener' | 'pool' | 'monitor' | 'one' | 'two', string>>

const one = id('memb', 1)
const two = id('memb', 2)
const lbWith = (pool: Partial<Pool>, fields: Partial<LoadBalancer> = {}): LoadBalancer =>
  loadBalancerOf({
    listeners: [listenerOf(1, { defaultPoolId: id('pool') })],
    pools: [poolOf(1, { members: [memberOf(1), memberOf(2)], monitor: tcpMonitorOf(1), ...pool })],
    ...fields,
  })

const cases: readonly [string, LoadBalancer, Status, Words][] = [
  [
    'nothing confirmed yet',
    lbWith({}),
    PENDING,
    { lb: 'OFFLINE', listener: 'OFFLINE', pool: 'OFFLINE', monitor: 'OFFLINE', one: 'OFFLINE' },
  ],
  [
    'all members up',
    lbWith({}),
    { health: { [one]: 'up', [two]: 'up' } },
    { lb: 'ONLINE', listener: 'ONLINE', pool: 'ONLINE', monitor: 'ONLINE', one: 'ONLINE', two: 'ONLINE' },
  ],
  [
    'one member down',
    lbWith({}),
    { health: { [one]: 'down', [two]: 'up' } },
    { lb: 'DEGRADED', listener: 'ONLINE', pool: 'DEGRADED', one: 'ERROR', two: 'ONLINE' },
  ],
  [
    'every member down',
    lbWith({}),
    { health: { [one]: 'down', [two]: 'down' } },
    { lb: 'ERROR', pool: 'ERROR', one: 'ERROR' },
  ],
  ['not probed yet', lbWith({}), { health: { [one]: 'up' } }, { pool: 'ONLINE', one: 'ONLINE', two: 'OFFLINE' }],
  ['no monitor', lbWith({ monitor: null }), {}, { lb: 'ONLINE', pool: 'ONLINE', one: 'NO_MONITOR' }],
  [
    'a monitor that is switched off',
    lbWith({ monitor: { ...tcpMonitorOf(1), enabled: false } }),
    { health: { [one]: 'down' } },
    { monitor: 'OFFLINE', one: 'NO_MONITOR', pool: 'ONLINE' },
  ],
  [
    'a draining member and one that is switched off',
    lbWith({ members: [memberOf(1, { weight: 0 }), memberOf(2, { enabled: false })] }),
    { health: { [one]: 'up', [two]: 'down' } },
    { one: 'DRAINING', two: 'OFFLINE', pool: 'ONLINE' },
  ],
  ['no members', lbWith({ members: [] }), {}, { lb: 'ONLINE', pool: 'ONLINE' }],
  [
    'a pool that no listener sends to',
    lbWith({}, { listeners: [listenerOf(1)] }),
    { health: { [one]: 'down', [two]: 'down' } },
    { lb: 'ONLINE', pool: 'OFFLINE', one: 'ERROR' },
  ],
  [
    'a listener that is full',
    lbWith({}, { listeners: [listenerOf(1, { connectionLimit: 5 })] }),
    { stats: [{ activeConnections: 5 }] },
    { lb: 'DEGRADED', listener: 'DEGRADED' },
  ],
  [
    'switched off',
    lbWith({}, { enabled: false }),
    { health: { [one]: 'up', [two]: 'up' } },
    { lb: 'OFFLINE', listener: 'OFFLINE', pool: 'OFFLINE' },
  ],
  ['an error after it ran', lbWith({ monitor: null }), { provisioning: 'error' }, { lb: 'ERROR', listener: 'ONLINE' }],
]

test.each(cases)('%s', (_, lb, status, words) => {
  const ids = { lb: lb.id, listener: id('list'), pool: id('pool'), monitor: id('hmon'), one, two }
  const statuses = operatingStatuses(lb, statusOf(status), new KnownPools())
  const said = Object.fromEntries(Object.entries(ids).map(([name, of]) => [name, statuses(of)]))
  expect(said).toMatchObject(words)
})

test('a list does not read members again while their health is unchanged', () => {
  const lb = lbWith({})
  const pools = new KnownPools()
  const { members, ...rest } = statusOf({ health: { [one]: 'down', [two]: 'down' } })
  let asked = 0
  const status = {
    ...rest,
    get members() {
      asked++
      return members
    },
  }
  for (let list = 0; list < 3; list++) expect(operatingStatuses(lb, status, pools)(lb.id)).toBe('ERROR')
  expect(asked).toBe(1)
  // The health changed, so the statuses are computed again.
  const now = statusOf({ health: { [one]: 'up', [two]: 'up' } })
  expect(operatingStatuses(lb, now, pools)(lb.id)).toBe('ONLINE')
  // They are computed again for another version of the document, too.
  expect(operatingStatuses({ ...lb }, { ...now, members }, pools)(lb.id)).toBe('ERROR')
})
