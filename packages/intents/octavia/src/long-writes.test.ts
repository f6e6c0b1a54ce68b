import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { TestService } from './testing/service.ts'

const MEMBERS = 2000
let service: TestService
/** A load balancer of another project, one of ours, and a pool of ours. */
let otherId = ''
let ownId = ''
let poolId = ''

beforeAll(async () => {
  service = await TestService.start()
  const vip = { vip_network_id: service.ids.pool }
  otherId = String((await service.make('/loadbalancers', 'loadbalancer', vip, 'stranger')).id)
  ownId = String((await service.make('/loadbalancers', 'loadbalancer', vip)).id)
  const pool = { loadbalancer_id: ownId, protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' }
  poolId = String((await service.make('/pools', 'pool', pool)).id)
})
beforeEach(() => {
  service.turn = () => new Promise((resolve) => setImmediate(resolve))
})
afterAll(() => service.stop())

const member = (n: number, fields: object = {}) => ({
  ...{ address: `10.0.${1 + (n >> 8)}.${n & 255}`, protocol_port: 80, weight: 1 + (n % 9) },
  ...fields,
})
/** Fields of some members, by index. */
type Fields = Readonly<Record<number, object>>

const members = (wrong: Fields = {}) => Array.from({ length: MEMBERS }, (_, n) => member(n, wrong[n]))
const pool = (wrong: Fields = {}) => ({
  ...{ name: 'all', protocol: 'HTTP', lb_algorithm: 'ROUND_ROBIN' },
  members: members(wrong),
})
const graph = (wrong: Fields = {}, others: object = {}) => ({
  loadbalancer: {
    vip_network_id: service.ids.pool,
    listeners: [
      {
        ...{ protocol: 'HTTP', protocol_port: 80 },
        default_pool: pool(wrong),
      },
    ],
    ...others,
  },
})

/** Whether a request that comes after the long one is answered before it. */
async function answeredInOrder(long: ReturnType<TestService['call']>): Promise<readonly string[]> {
  const answered: string[] = []
  await Promise.all([
    long.then(() => answered.push('long')),
    service.call('GET', `/loadbalancers/${otherId}`, undefined, 'stranger').then(() => answered.push('other')),
  ])
  return answered
}

test('others are served while thousands of members are replaced', async () => {
  const replaced = service.call('PUT', `/pools/${poolId}/members`, { members: members() })
  expect(await answeredInOrder(replaced)).toEqual(['other', 'long'])
  expect((await replaced).status).toBe(202)
  const stored = service.view.get('loadBalancer', service.view.child(poolId)!.loadBalancerId)!.value.pools[0]!
  expect(stored.members.map(({ address, weight }) => `${address} ${weight}`)).toEqual(
    members().map(({ address, weight }) => `${address} ${weight}`),
  )
})

test('others are served while a load balancer with thousands of members is created', async () => {
  const created = service.call('POST', '/loadbalancers', graph())
  expect(await answeredInOrder(created)).toEqual(['other', 'long'])
  const { status, body } = await created
  expect(status).toBe(201)
  const [pool] = (body as { loadbalancer: { pools: { members: object[] }[] } }).loadbalancer.pools
  expect(pool!.members).toMatchObject(members().map(({ address, weight }) => ({ address, weight })))
})

test.each([
  ['/pools', 'pool', (nested: object) => nested],
  ['/listeners', 'listener', (nested: object) => ({ protocol: 'HTTP', protocol_port: 80, default_pool: nested })],
] as const)('a pool with hundreds of members is created in turns by %s', async (path, root, bodyOf) => {
  const { id } = await service.make('/loadbalancers', 'loadbalancer', { vip_network_id: service.ids.pool })
  // Few enough members: the project's other load balancers use most of its quota.
  const some = members().slice(0, 400)
  let turns = 0
  service.turn = () => {
    turns += 1
    return Promise.resolve()
  }
  const { status } = await service.call('POST', path, {
    [root]: { loadbalancer_id: id, ...bodyOf({ ...pool(), members: some }) },
  })
  expect(status).toBe(201)
  expect(turns).toBeGreaterThan(0)
  const stored = service.view.get('loadBalancer', String(id))!.value.pools[0]!
  expect(stored.members.map(({ address, weight }) => `${address} ${weight}`)).toEqual(
    some.map(({ address, weight }) => `${address} ${weight}`),
  )
})

test.each<[string, Fields]>([
  ['a wrong weight', { 1500: { weight: -1 } }],
  ['an unknown attribute', { 1500: { size: 1 } }],
  ['no address', { 1500: { address: null } }],
  ['an address that is none, behind a wrong port', { 700: { protocol_port: 0 }, 1500: { address: 'x' } }],
  ['an endpoint twice', { 1500: { address: '10.0.1.7' } }],
  ['an address outside the network', { 1500: { address: '10.9.0.1' } }],
])('what is refused is refused as at once: %s', async (_, wrong) => {
  const asks: readonly ['POST' | 'PUT', string, object][] = [
    ['POST', '/loadbalancers', graph(wrong)],
    // The fault that comes first in the body is reported first.
    ['POST', '/loadbalancers', graph(wrong, { colour: 'red' })],
    ['PUT', `/pools/${poolId}/members`, { members: members(wrong) }],
    ['POST', '/pools', { pool: { loadbalancer_id: ownId, ...pool(wrong) } }],
    [
      'POST',
      '/listeners',
      { listener: { loadbalancer_id: ownId, protocol: 'HTTP', protocol_port: 80, default_pool: pool(wrong) } },
    ],
  ]
  for (const ask of asks) {
    const inPieces = await service.call(...ask)
    service.turn = null
    const atOnce = await service.call(...ask)
    service.turn = () => Promise.resolve()
    expect(inPieces.status).toBeGreaterThanOrEqual(400)
    expect([inPieces.status, inPieces.body]).toEqual([atOnce.status, atOnce.body])
  }
})
