import { formatIp } from '@spout/net'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { TestService } from '../testing/service.ts'
import { granularityOf, networksOf } from './granularity.ts'

let service: TestService
let lb: string
beforeAll(async () => {
  service = await TestService.start()
  const { body } = await service.call('POST', '/loadbalancers', {
    loadbalancer: { vip_subnet_id: service.ids.pool },
  })
  lb = (body as { loadbalancer: { id: string } }).loadbalancer.id
})
afterAll(() => service?.stop())

const create = (protocol: string, session_persistence: object) =>
  service.call('POST', '/pools', {
    pool: { loadbalancer_id: lb, protocol, lb_algorithm: 'ROUND_ROBIN', session_persistence },
  })

it.each(Array.from({ length: 32 }, (_, at) => at + 1))('a mask of %d bits is a network of IPv4', (ipv4Prefix) => {
  const mask = formatIp({ version: 4, value: 2n ** 32n - 2n ** BigInt(32 - ipv4Prefix) })
  expect(networksOf(mask)).toEqual({ ipv4Prefix })
  expect(granularityOf({ ipv4Prefix })).toBe(mask)
})

it.each([
  ['f000::', 4],
  ['ffff:ffff::', 32],
  ['ffff:ffff:ffff:ff00::', 56],
  ['ffff:ffff:ffff:ffff::', 64],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 128],
])('%s is a network of IPv6', (mask, ipv6Prefix) => {
  expect(networksOf(mask)).toEqual({ ipv6Prefix })
  expect(granularityOf({ ipv6Prefix })).toBe(mask)
})

describe.each(['UDP', 'SCTP'])('sessions of a pool of %s', (protocol) => {
  const words = { type: 'SOURCE_IP', cookie_name: null }

  test('are kept by networks, and a change or null is one', async () => {
    const asked = { type: 'SOURCE_IP', persistence_timeout: 60, persistence_granularity: '255.255.255.0' }
    const { status, body } = await create(protocol, asked)
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { pool: { session_persistence: { ...words, ...asked } } },
    })
    const { id } = (body as { pool: { id: string } }).pool
    const set = async (session_persistence: object | null) =>
      (await service.call('PUT', `/pools/${id}`, { pool: { session_persistence } })).body
    expect(await set({ persistence_granularity: 'ffff:ffff:ffff:ff00::' })).toMatchObject({
      pool: { session_persistence: { ...words, persistence_granularity: 'ffff:ffff:ffff:ff00::' } },
    })
    expect(await set(null)).toMatchObject({ pool: { session_persistence: null } })
  })

  test.each([
    '0.0.0.0',
    '255.0.255.0',
    '0.0.0.255',
    '10.0.0.1',
    '::',
    'ffff:ffff:8000::',
    'ffff:ffff:ffff:ffff:ffff::',
  ])('are refused by %s, which is no mask that nodes have a rule for', async (persistence_granularity) => {
    const refused = await create(protocol, { type: 'SOURCE_IP', persistence_granularity })
    expect(refused.status).toBe(501)
    expect(JSON.stringify(refused.body)).toContain(
      `persistence_granularity ${persistence_granularity}: masks are those of IPv4 networks`,
    )
  })
})

test('where a pool cannot keep them so, the answer is that of Octavia', async () => {
  expect(await create('TCP', { type: 'SOURCE_IP', persistence_granularity: '255.255.255.0' })).toMatchObject({
    status: 400,
    body: {
      faultstring:
        'Validation failure: persistence_timeout and persistence_granularity is only for UDP and SCTP protocol pools.',
    },
  })
})
