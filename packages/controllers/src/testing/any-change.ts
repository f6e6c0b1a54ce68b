import { LISTENER_PROTOCOLS } from '@spout/model'
import fc from 'fast-check'
import { type Change, EVERYTHING, GROUPS, NODES, SECURITY_GROUPS, SHARDS } from './changing-cluster.ts'

const L4_ONLY = ['l4.tcp', 'l4.udp', 'dsr']

export const anyChange: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('put load balancer'),
      number: fc.integer({ min: 1, max: 4 }),
      network: fc.integer({ min: 1, max: 3 }),
      group: fc.constantFrom(null, ...GROUPS),
      protocol: fc.constantFrom(...LISTENER_PROTOCOLS),
      connectionLimit: fc.constantFrom(null, 10),
      scope: fc.constantFrom('fabric', 'tenant'),
      addressPool: fc.integer({ min: 1, max: 2 }),
      members: fc.subarray(['10.0.0.11', '10.0.0.12', '10.0.0.13']),
      securityGroups: fc.subarray([...SECURITY_GROUPS]),
    }),
  },
  fc.record({ do: fc.constant('delete load balancer'), number: fc.integer({ min: 1, max: 4 }) }),
  fc.record({
    do: fc.constant('put certificate'),
    number: fc.constantFrom(1, 2),
    version: fc.integer({ min: 1, max: 3 }),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('put security group'),
      number: fc.constantFrom(...SECURITY_GROUPS),
      sources: fc.subarray(['192.0.2.0/25', '2001:db8::/64']),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('put node'),
      number: fc.constantFrom(...NODES),
      group: fc.constantFrom(...GROUPS),
      scheduling: fc.constantFrom('enabled', 'cordoned', 'draining'),
    }),
  },
  fc.record({ do: fc.constant('delete node'), number: fc.constantFrom(...NODES) }),
  fc.record({
    do: fc.constant('put network'),
    number: fc.integer({ min: 1, max: 3 }),
    returnPath: fc.constantFrom('gateway', 'snat', 'dsr', 'node'),
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('put group'),
      number: fc.constantFrom(...GROUPS),
      announcer: fc.constantFrom('l2', 'vrrp', 'bgp'),
      shards: fc.constantFrom(...SHARDS),
      policy: fc.constantFrom('always', 'healthy'),
      fabric: fc.option(fc.constant({ interface: 'edge0' }), { nil: undefined }),
    }),
  },
  fc.record({
    do: fc.constant('put advertisement'),
    number: fc.integer({ min: 2, max: 3 }),
    addressPools: fc.constantFrom(null, [1], [2]),
  }),
  fc.record({ do: fc.constant('delete advertisement'), number: fc.integer({ min: 2, max: 3 }) }),
  fc.record({
    do: fc.constant('report features'),
    number: fc.constantFrom(...NODES),
    features: fc.constantFrom(EVERYTHING, L4_ONLY),
  }),
  fc.record({
    do: fc.constant('report shards'),
    number: fc.constantFrom(...NODES),
    masterOf: fc.subarray([...SHARDS]),
  }),
  fc.record({
    do: fc.constant('rebalance'),
    group: fc.constantFrom(...GROUPS),
    shard: fc.constantFrom(...SHARDS),
    from: fc.constantFrom(...NODES),
    to: fc.constantFrom(...NODES),
  }),
)
