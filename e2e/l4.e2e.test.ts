import { Caller, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, CLIENT, member, PORT, tally, vipOf } from './fixtures.ts'

const CLIENT6 = '2001:db8:c::10'
/** More addresses of the client: clients that a hash can tell apart. */
const NEIGHBOURS = Array.from({ length: 24 }, (_, index) => `203.0.113.${20 + index}`)

let system: TestSystem
let client: Caller
let acme: Tenant
let bolt: Tenant
let pool6: string

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT] })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  for (const { networkId } of system.tenants) {
    const subnet = { name: 'subnet6', cidr: 'fd10::/64', gatewayIp: 'fd10::1' }
    await system.api(system.access.admin, 'POST', `/networks/${networkId}/subnets`, subnet)
  }
  const { id } = await system.api<{ id: string }>(system.access.admin, 'POST', '/address-pools', {
    name: 'public6',
    ranges: [{ first: '2001:db8:f::100', last: '2001:db8:f::ffff' }],
    cidr: '2001:db8:f::/64',
    gatewayIp: '2001:db8:f::1',
  })
  pool6 = id
  for (const address of NEIGHBOURS)
    await system.lab.must('client', ['ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0'])
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const members6 = (port: number): object[] => [1, 2].map((index) => ({ address: `fd10::${10 + index}`, port }))

/** Names of the members that answered, one connection or datagram each. */
async function whoAnswers(protocol: 'tcp' | 'udp', vip: string, times: number, sources?: readonly string[]) {
  const names: string[] = []
  for (let at = 0; at < times; at++) {
    const source = sources?.[at % sources.length]
    const outcome =
      protocol === 'tcp'
        ? await client.tcp(vip, 80, source ? { source } : {})
        : await client.udp(vip, 80, `ping ${at}`, source ? { source } : {})
    names.push(outcome.ok ? (outcome.value.split(' ')[0] ?? '') : outcome.code)
  }
  return names
}

describe.each([
  { way: 'gateway', tenant: () => acme, names: ['tenant-a-member1', 'tenant-a-member2'] },
  { way: 'snat', tenant: () => bolt, names: ['tenant-b-member1', 'tenant-b-member2'] },
])('with return path $way', ({ tenant, names }) => {
  it.each(['tcp', 'udp'] as const)('balances %s over IPv4', async (protocol) => {
    const shown = await system.createLoadBalancer(tenant(), balancer(`v4-${protocol}`, protocol))
    const answered = tally(await whoAnswers(protocol, vipOf(shown), 32))
    expect([...answered.keys()].sort()).toEqual(names)
  })

  it.each(['tcp', 'udp', 'http'] as const)('balances %s over IPv6', async (protocol) => {
    const pool = { members: members6(PORT[protocol]) }
    const body = { ...balancer(`v6-${protocol}`, protocol, { pool }), vips: [{ from: 'pool', poolId: pool6 }] }
    const shown = await system.createLoadBalancer(tenant(), body)
    const vip = vipOf(shown)
    expect(vip).toMatch(/^2001:db8:f::/)
    const answered =
      protocol === 'http'
        ? (await client.members(vip, 16)).map((answer) => answer?.member ?? 'none')
        : await whoAnswers(protocol, vip, 32)
    expect([...tally(answered).keys()].sort()).toEqual(names)
  })
})

it('keeps the client address over IPv4 and IPv6 with return path gateway', async () => {
  const poolOf = (members: object[]) => ({ memberPort: PORT.http, pool: { members } })
  const four = await system.createLoadBalancer(acme, balancer('seen4', 'tcp', poolOf([member(1, PORT.http)])))
  const six = await system.createLoadBalancer(acme, {
    ...balancer('seen6', 'tcp', poolOf(members6(PORT.http))),
    vips: [{ from: 'pool', poolId: pool6 }],
  })
  expect((await client.members(vipOf(four), 1))[0]?.from).toBe(`::ffff:${CLIENT}`)
  expect((await client.members(vipOf(six), 1))[0]?.from).toBe(CLIENT6)
})

it('shares by weight, roughly', async () => {
  const members = [member(1, PORT.tcp, { weight: 3 }), member(2, PORT.tcp, { weight: 1 })]
  const shown = await system.createLoadBalancer(acme, balancer('weighted', 'tcp', { pool: { members } }))
  const answered = tally(await whoAnswers('tcp', vipOf(shown), 200))
  // 200 draws of 3 in 4 are outside these bounds less than once in 10^9.
  expect(answered.get('tenant-a-member1')).toBeGreaterThan(110)
  expect(answered.get('tenant-a-member2')).toBeGreaterThan(12)
  expect(answered.size).toBe(2)
})

it.each(['tcp', 'udp'] as const)('keeps %s clients at their members by source address', async (protocol) => {
  const persistence = { type: 'source-ip', timeoutSeconds: null }
  const shown = await system.createLoadBalancer(
    acme,
    balancer(`sticky-${protocol}`, protocol, { pool: { persistence } }),
  )
  const first = await whoAnswers(protocol, vipOf(shown), NEIGHBOURS.length, NEIGHBOURS)
  const second = await whoAnswers(protocol, vipOf(shown), NEIGHBOURS.length, NEIGHBOURS)
  expect(second).toEqual(first)
  expect([...tally(first).keys()].sort()).toEqual(['tenant-a-member1', 'tenant-a-member2'])
})

it.each(['tcp', 'udp', 'http'] as const)('lets only allowed networks use %s', async (protocol) => {
  const listener = { allowedCidrs: ['203.0.113.20/30', '192.0.2.0/24'] }
  const shown = await system.createLoadBalancer(acme, balancer(`allowed-${protocol}`, protocol, { listener }))
  const from = async (source: string): Promise<boolean> => {
    const options = { source, timeoutMs: 400 }
    const vip = vipOf(shown)
    if (protocol === 'udp') return (await client.udp(vip, 80, 'hello', options)).ok
    if (protocol === 'http') return (await client.http(vip, 80, options)).ok
    return (await client.tcp(vip, 80, options)).ok
  }
  expect(await from('203.0.113.20')).toBe(true)
  expect(await from('203.0.113.23')).toBe(true)
  expect(await from('203.0.113.24')).toBe(false)
  expect(await from(CLIENT)).toBe(false)
  await system.api(acme, 'PUT', `/load-balancers/${shown.id}/listeners/${shown.listeners[0]?.id}`, {
    protocol,
    port: 80,
    defaultPoolId: shown.pools[0]?.id,
  })
  await system.active(acme, shown.id)
  expect(await from(CLIENT)).toBe(true)
})

it('holds the connection limit', async () => {
  const shown = await system.createLoadBalancer(acme, balancer('limited', 'tcp', { listener: { connectionLimit: 3 } }))
  const vip = vipOf(shown)
  const held = [await client.hold(vip, 80), await client.hold(vip, 80), await client.hold(vip, 80)]
  expect(await client.tcp(vip, 80, { timeoutMs: 400 })).toMatchObject({ ok: false })
  for (const connection of held) expect(await connection.say('still here')).toEqual({ ok: true, value: 'still here' })
  for (const connection of held) await connection.drop()
  await waitFor(async () => (await client.tcp(vip, 80, { timeoutMs: 400 })).ok, { what: 'a place to be free again' })
})

it.each(['tcp', 'udp', 'http'] as const)('refuses %s at once where there is no member', async (protocol) => {
  const shown = await system.createLoadBalancer(
    acme,
    balancer(`empty-${protocol}`, protocol, { pool: { members: [] } }),
  )
  const vip = vipOf(shown)
  if (protocol === 'http') expect(await client.http(vip)).toMatchObject({ ok: true, value: { status: 503 } })
  else if (protocol === 'tcp') expect(await client.tcp(vip, 80)).toEqual({ ok: false, code: 'ECONNREFUSED' })
  else expect(await client.udp(vip, 80, 'hello')).toEqual({ ok: false, code: 'ECONNREFUSED' })
})

it('refuses ports that have no listener', async () => {
  const shown = await system.createLoadBalancer(acme, balancer('one-port', 'tcp'))
  expect(await client.tcp(vipOf(shown), 81)).toEqual({ ok: false, code: 'ECONNREFUSED' })
  expect(await client.udp(vipOf(shown), 80, 'hello')).toEqual({ ok: false, code: 'ECONNREFUSED' })
})

describe('while members change', () => {
  const put = async (shown: ShownLoadBalancer, members: readonly object[]): Promise<void> => {
    const path = `/load-balancers/${shown.id}/pools/${shown.pools[0]?.id}/members`
    await system.api(acme, 'PUT', path, { members })
    await system.active(acme, shown.id)
  }

  it('weight 0 drains: established connections stay, new ones go elsewhere', async () => {
    const shown = await system.createLoadBalancer(acme, balancer('drained', 'tcp'))
    const vip = vipOf(shown)
    const held = await connectionTo('tenant-a-member1', vip)
    await put(shown, [member(1, PORT.tcp, { weight: 0 }), member(2, PORT.tcp)])
    expect(tally(await whoAnswers('tcp', vip, 24))).toEqual(new Map([['tenant-a-member2', 24]]))
    expect(await held.say('still here')).toEqual({ ok: true, value: 'still here' })
    await held.drop()
  })

  it('established connections survive another member leaving and coming', async () => {
    const shown = await system.createLoadBalancer(acme, balancer('changing', 'tcp'))
    const vip = vipOf(shown)
    const held = await connectionTo('tenant-a-member1', vip)
    await put(shown, [member(1, PORT.tcp)])
    expect(await held.say('alone')).toEqual({ ok: true, value: 'alone' })
    expect(tally(await whoAnswers('tcp', vip, 12))).toEqual(new Map([['tenant-a-member1', 12]]))
    await put(shown, [member(1, PORT.tcp), member(2, PORT.tcp)])
    expect(await held.say('together')).toEqual({ ok: true, value: 'together' })
    expect(tally(await whoAnswers('tcp', vip, 32)).size).toBe(2)
    await held.drop()
  })

  async function connectionTo(name: string, vip: string) {
    return waitFor(
      async () => {
        const held = await client.hold(vip, 80)
        if (held.member === name) return held
        await held.drop()
        return null
      },
      { what: `a connection to ${name}` },
    )
  }
})
