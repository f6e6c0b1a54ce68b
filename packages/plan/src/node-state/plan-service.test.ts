import { expect, test } from 'vitest'
import type { PlannedNode } from '../placement/place.ts'
import { id, listener, loadBalancer, network } from '../testing/documents.ts'
import type { LoadBalancerPlan } from './load-balancer-plan.ts'
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

test('a class bounds the connections of listeners that allow more, or say nothing', () => {
  const limits = [null, 50, 1000]
  const listeners = limits.map((connectionLimit, at) => listener(0x1001 + at, 80 + at, { connectionLimit }))
  const planned = (connectionLimit: number | null) =>
    planLoadBalancer({
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
  const limitsOf = ({ entries }: LoadBalancerPlan) =>
    [...entries.values()][0]?.services.map(({ connectionLimit }) => connectionLimit)
  expect(limitsOf(planned(null))).toEqual(limits)
  expect(limitsOf(planned(100))).toEqual([100, 50, 100])
})

test('nodes are told how long a ClientHello may take by the listeners that wait for one, and say so', () => {
  const timeouts = (inspectMs: number) => ({ clientMs: 1, connectMs: 2, memberMs: 3, inspectMs })
  const listeners = [
    listener(0x1001, 443, { protocol: 'tls-passthrough', timeouts: timeouts(4) }),
    listener(0x1002, 444, { protocol: 'tls-passthrough', timeouts: timeouts(0) }),
    listener(0x1003, 445, { protocol: 'tcp-proxy', timeouts: timeouts(4) }),
  ]
  const { entries } = planLoadBalancer({
    loadBalancer: loadBalancer(0x1000, { networkId: NETWORK.id, listeners }),
    connectionLimit: null,
    certificateOf: () => null,
    network: NETWORK,
    group: { name: 'default', nodes: [NODE] },
    announcing: { via: 'l2' },
    previous: null,
    gatewayOwnerIds: [],
    freePoolNumber: (after) => after + 1,
    now: NOW,
  })
  const plain = { clientMs: 1, connectMs: 2, memberMs: 3 }
  expect([...entries.values()][0]?.services.map((service) => service.timeouts)).toEqual([
    { ...plain, inspectMs: 4 },
    plain,
    plain,
  ])
})
