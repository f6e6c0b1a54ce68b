import type { ClientNetworks, Pool } from '@spout/model'
import { expect, test } from 'vitest'
import { listener, loadBalancer, member, pool } from '../testing/documents.ts'
import { planPool } from './node-pool.ts'

const planned = (persistence: Pool['persistence'], protocol: 'tcp' | 'http' = 'tcp') => {
  const one = pool(0x2000, [member(0x3000)], { protocol, persistence })
  const { node } = planPool(
    loadBalancer(0x1000, { listeners: [listener(0x1001, 80, { protocol, defaultPoolId: one.id })], pools: [one] }),
    one,
    1,
    null,
    () => null,
  )
  return { affinity: node?.sourceAffinity, keepSeconds: node?.keepSeconds, networks: node?.clientNetworks }
}

test('nodes are told the time-out of an affinity by source, and only that', () => {
  expect(planned({ type: 'source-ip', timeoutSeconds: 600 })).toEqual({ affinity: true, keepSeconds: 600 })
  expect(planned({ type: 'source-ip', timeoutSeconds: null })).toEqual({ affinity: true, keepSeconds: undefined })
  expect(planned(null)).toEqual({ affinity: false, keepSeconds: undefined })
})

test('nodes are told networks of clients that are larger than an address, where the packet path balances', () => {
  const networksOf = (networks: ClientNetworks, protocol?: 'http') =>
    planned({ type: 'source-ip', timeoutSeconds: null, networks }, protocol).networks
  expect(networksOf({ ipv4Prefix: 24, ipv6Prefix: 56 })).toEqual({ ipv4Prefix: 24, ipv6Prefix: 56 })
  expect(networksOf({ ipv4Prefix: 24, ipv6Prefix: 128 })).toEqual({ ipv4Prefix: 24 })
  expect(networksOf({ ipv4Prefix: 32 })).toBeUndefined()
  expect(networksOf({ ipv4Prefix: 24 }, 'http')).toBeUndefined()
})
