import type { DomainEntry } from '@spout/model/node-state'
import { expect, test } from 'vitest'
import { gatewayAnnouncements } from './entry-announcements.ts'
import { domainEntry } from './testing/entries.ts'

const by = { via: 'vrrp', shard: 2 } as const

test('the gateway moves with a shard, or with return path snat the address that members see', () => {
  const addresses = (change: Partial<DomainEntry>) =>
    gatewayAnnouncements({ ...domainEntry(1), ...change }).map(({ address }) => address)
  const subnets = [
    { cidr: '10.0.0.0/24', nodeAddress: '10.0.0.254', gatewayIp: '10.0.0.1', sharedAddress: '10.0.0.252' },
  ]
  expect(addresses({ returnPath: 'gateway', gateway: by, subnets })).toEqual(['10.0.0.1'])
  expect(addresses({ returnPath: 'snat', gateway: by, subnets })).toEqual(['10.0.0.252'])
  expect(addresses({ returnPath: 'snat', gateway: null, subnets })).toEqual([])
  const none = subnets.map((subnet) => ({ ...subnet, sharedAddress: null }))
  expect(addresses({ returnPath: 'snat', gateway: by, subnets: none })).toEqual([])
})
