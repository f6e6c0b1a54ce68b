import type { LoadBalancer, Network } from '@spout/model'
import { describe, expect, it } from 'vitest'
import { id, listener, loadBalancer, network } from '../testing/documents.ts'
import { planLoadBalancer } from './plan-load-balancer.ts'
import { needsSymmetricPath } from './symmetric-path.ts'

type Protocol = LoadBalancer['listeners'][number]['protocol']

const balancer = (...protocols: readonly Protocol[]): LoadBalancer =>
  loadBalancer(1, {
    networkId: id(2),
    vips: [
      { addressId: id(0x77), address: '192.0.2.66', scope: 'fabric', poolId: id(3), networkId: null, subnetId: null },
    ],
    listeners: protocols.map((protocol, at) => listener(40 + at, 80 + at, { protocol })),
  })

const plan = (one: LoadBalancer, returnPath: Network['returnPath']) =>
  planLoadBalancer({
    loadBalancer: one,
    connectionLimit: null,
    certificateOf: () => null,
    network: network(2, { returnPath }),
    group: {
      name: 'default',
      nodes: [1, 2].map((number) => ({
        id: id(0xa00 + number),
        name: `n${number}`,
        scheduling: 'enabled',
        connection: 'connected',
        features: ['dsr', 'l4.member-nodes', 'l4.tcp', 'l4.udp', 'l7.http', 'l7.tcp-proxy'],
        loadBalancers: 0,
      })),
    },
    announcing: {
      via: 'bgp',
      policy: 'always',
      advertisements: { byPool: {}, otherwise: 1 },
      groupId: id(9),
      shards: 4,
      networkShard: 3,
      networkSince: null,
      freestShard: 1,
    },
    previous: null,
    gatewayOwnerIds: [],
    freePoolNumber: (after) => after + 1,
    now: '2026-01-01T00:00:00.000Z',
  })

describe('a load balancer announced by BGP', () => {
  it.each<[Network['returnPath'], readonly Protocol[], number | null, string]>([
    ['gateway', ['http'], 3, "it holds the members' gateway."],
    ['gateway', ['tcp'], 3, "it holds the members' gateway."],
    ['snat', [], 3, 'it holds the address that members see.'],
    ['snat', ['tcp'], 3, 'it holds the address that members see.'],
    ['snat', ['http', 'udp'], 3, 'it holds the address that members see.'],
    ['snat', ['http', 'tcp-proxy'], null, 'Every node of group `default` announces it to its routers.'],
    ['dsr', ['tcp'], null, 'Every node of group `default` announces it to its routers.'],
    ['node', ['tcp', 'http'], null, 'Every node of group `default` announces it to its routers.'],
  ])('with return path %s and listeners %j is carried by shard %j', (returnPath, protocols, shard, why) => {
    const one = balancer(...protocols)
    expect(needsSymmetricPath(one, { returnPath })).toBe(shard !== null)
    const { entries, reason } = plan(one, returnPath)
    expect(reason.message).toContain(why)
    expect([...entries.values()].map(({ vips }) => vips[0]?.announce)).toEqual([
      { via: 'bgp', advertisement: 1, policy: 'always', shard },
      { via: 'bgp', advertisement: 1, policy: 'always', shard },
    ])
  })
})
