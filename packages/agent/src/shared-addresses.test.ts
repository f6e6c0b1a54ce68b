import type { DomainEntry } from '@spout/model/node-state'
import { expect, test } from 'vitest'
import { gatewayWishes } from './entry-announcements.ts'
import { domainEntry } from './testing/entries.ts'

const by = { via: 'vrrp', shard: 2 } as const

test('what moves with a shard is the gateway, or with return path snat what members see, never a gateway of others', () => {
  const addresses = (change: Partial<DomainEntry>) =>
    gatewayWishes({ ...domainEntry(1), ...change }).map(({ address }) => address)
  const subnets = [
    { cidr: '10.0.0.0/24', nodeAddress: '10.0.0.254', gatewayIp: '10.0.0.1', sharedAddress: '10.0.0.252' },
  ]
  expect(addresses({ returnPath: 'gateway', gateway: by, subnets })).toEqual(['10.0.0.1'])
  expect(addresses({ returnPath: 'snat', gateway: by, subnets })).toEqual(['10.0.0.252'])
  expect(addresses({ returnPath: 'snat', gateway: null, subnets })).toEqual([])
  const none = subnets.map((subnet) => ({ ...subnet, sharedAddress: null }))
  expect(addresses({ returnPath: 'snat', gateway: by, subnets: none })).toEqual([])
})
