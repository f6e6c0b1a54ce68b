import type { LoadBalancerStatus } from '@spout/model'
import { expect, test } from 'vitest'
import { loadBalancerResource } from '../resources/load-balancer.ts'
import { KnownPools } from '../snapshots/operating-status.ts'
import { snapshotOf } from '../snapshots/snapshot.ts'
import { id, listenerOf, loadBalancerOf, memberOf, poolOf, statusOf, tcpMonitorOf } from '../testing/fixtures.ts'
import { printObject } from '../wire/field.ts'
import { KnownLoadBalancers } from './known-load-balancers.ts'

const lb = loadBalancerOf({
  listeners: [listenerOf(1, { defaultPoolId: id('pool') }), listenerOf(2, { connectionLimit: 10 })],
  pools: [poolOf(1, { members: [memberOf(1)], monitor: tcpMonitorOf(1) })],
})
const serving = (state: 'yes' | 'no') =>
  ({ state, reason: 'Serving', message: '', membersUp: 1, members: 1 }) satisfies LoadBalancerStatus['serving']
const [serves, fails] = [serving('yes'), serving('no')]
const [up, down] = [{ [id('memb')]: 'up' }, { [id('memb')]: 'down' }] as const
const connections = (activeConnections: number) => [{ listenerId: id('list', 2), activeConnections }]

test('a load balancer is printed as ever, and again only when what it shows changed', () => {
  const known = new KnownLoadBalancers()
  const pools = new KnownPools()
  const print = (status: Parameters<typeof statusOf>[0], vips = lb.vips) => {
    const reading = { snapshot: snapshotOf(lb, statusOf(status), pools), vips }
    const printed = known.print(reading)
    expect(JSON.stringify(printed)).toBe(JSON.stringify(printObject(loadBalancerResource.fields, reading)))
    return printed
  }
  const active = { provisioning: 'active', confirmedGeneration: lb.generation, serving: serves } as const
  const first = print({ ...active, health: up })
  expect(print({ ...active, health: up, stats: connections(9) })).toBe(first)
  const changes: readonly Parameters<typeof statusOf>[0][] = [
    { ...active, health: down, serving: fails },
    { ...active, health: up, stats: connections(10) },
    { ...active, provisioning: 'error', health: up },
    { ...active, provisioning: 'pending', confirmedGeneration: 0, health: up },
  ]
  for (const change of changes) {
    const before = print({ ...active, health: up })
    const after = print(change)
    expect(JSON.stringify(after)).not.toBe(JSON.stringify(before))
  }
  expect(JSON.stringify(print({ ...active, health: up }, []))).toContain('"vip_address":null')
})

test('one with many children is not kept', () => {
  const many = loadBalancerOf({ listeners: Array.from({ length: 21 }, (_, n) => listenerOf(n + 1)) })
  const reading = { snapshot: snapshotOf(many, statusOf(), new KnownPools()), vips: many.vips }
  const known = new KnownLoadBalancers()
  expect(known.print(reading)).toEqual(printObject(loadBalancerResource.fields, reading))
  expect(known.print(reading)).not.toBe(known.print(reading))
})
