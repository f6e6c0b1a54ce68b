import type { LoadBalancer } from '@spout/model'
import { expect, test } from 'vitest'
import type { PlannedNode } from '../placement/place.ts'
import { id, listener, loadBalancer, network } from '../testing/documents.ts'
import { planLoadBalancer } from './plan-load-balancer.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const NETWORK = network(2)
const NODE: PlannedNode = {
  id: id(0xa01),
  name: 'n1',
  scheduling: 'enabled',
  connection: 'connected',
  features: ['l4.tcp', 'l7.tls-passthrough', 'l7.tcp-proxy'],
  loadBalancers: 0,
}

const plannedServices = (listeners: LoadBalancer['listeners'], connectionLimit: number | null = null) => {
  const { entries } = planLoadBalancer({
    loadBalancer: loadBalancer(0x1000, { networkId: NETWORK.id, listeners }),
    connectionLimit,
    certificateOf: () => null,
    network: NETWORK,
    group: { name: 'default', nodes: [NODE] },
    announcing: { via: 'l2' },
    previous: null,
    gatewayOwnerIds: [],
    freePoolNumber: (after) => after + 1,
    now: NOW,
  })
  return [...entries.values()][0]?.services
}

test('a class bounds the connections of listeners that allow more, or say nothing', () => {
  const limits = [null, 50, 1000]
  const listeners = limits.map((connectionLimit, at) => listener(0x1001 + at, 80 + at, { connectionLimit }))
  const limitsBy = (ofClass: number | null) =>
    plannedServices(listeners, ofClass)?.map(({ connectionLimit }) => connectionLimit)
  expect(limitsBy(null)).toEqual(limits)
  expect(limitsBy(100)).toEqual([100, 50, 100])
})

test('nodes are told how long a ClientHello may take by the listeners that wait for one, and say so', () => {
  const timeouts = (inspectMs: number) => ({ clientMs: 1, connectMs: 2, memberMs: 3, inspectMs })
  const listeners = [
    listener(0x1001, 443, { protocol: 'tls-passthrough', timeouts: timeouts(4) }),
    listener(0x1002, 444, { protocol: 'tls-passthrough', timeouts: timeouts(0) }),
    listener(0x1003, 445, { protocol: 'tcp-proxy', timeouts: timeouts(4) }),
  ]
  const plain = { clientMs: 1, connectMs: 2, memberMs: 3 }
  expect(plannedServices(listeners)?.map((service) => service.timeouts)).toEqual([
    { ...plain, inspectMs: 4 },
    plain,
    plain,
  ])
})
