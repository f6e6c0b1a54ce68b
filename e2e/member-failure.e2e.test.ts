import path from 'node:path'
import {
  bundled,
  Caller,
  run,
  type ShownLoadBalancer,
  startAgent,
  startMember,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, member, PORT, quickCheck, tally, vipOf } from './fixtures.ts'

const NODE = 'node1'
let system: TestSystem
let client: Caller
let acme: Tenant
let bolt: Tenant

beforeAll(async () => {
  // One node: an address that moves does not take flows of a removed member along (a limit of its own).
  system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: [NODE] })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  client = await Caller.start(system.lab, 'client')
})

/** A test that failed half-way leaves members dead: the next one still starts with all of them. */
afterEach(async () => {
  for (const place of ['tenant-a-member1', 'tenant-b-member1'])
    if (system.lab.process(`member-${place}`) === null) await startMember(system.lab, place)
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const kill = (name: string) => system.lab.stop(system.lab.process(name)!, 'SIGKILL')

const healthOf = async (who: Tenant, { id }: ShownLoadBalancer, name: string) => {
  const { pools, status } = await system.loadBalancer(who, id)
  return status.members[pools[0]?.members.find((one) => one.name === name)?.id ?? '']
}
const isHealth = (who: Tenant, shown: ShownLoadBalancer, name: string, health: string) =>
  waitFor(async () => (await healthOf(who, shown, name))?.health === health, {
    what: `${name} to be ${health}`,
    timeoutMs: 30_000,
  })

/** What `spout` prints for the tenant. */
async function spout(...words: string[]): Promise<string> {
  const program = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
  const env = { SPOUT_ENDPOINT: system.access.endpoint, SPOUT_TOKEN: acme.token }
  return (await run([process.execPath, program, ...words], { env })).stdout
}

/** Replaces the pool's members, and waits until the nodes have them. */
async function membersAre(who: Tenant, { id, pools }: ShownLoadBalancer, ...members: readonly object[]) {
  await system.api(who, 'PUT', `/load-balancers/${id}/pools/${pools[0]!.id}/members`, { members })
  return system.active(who, id)
}

/** How many of this many new connections each member got. */
async function share(vip: string, connections: number): Promise<ReadonlyMap<string, number>> {
  const names: string[] = []
  for (let n = 0; n < connections; n++) {
    const outcome = await client.tcp(vip, 80)
    names.push(outcome.ok ? outcome.value : outcome.code)
  }
  return tally(names)
}

describe('a member that dies', () => {
  it.each([
    ['gateway', 'tcp', () => acme, 'tenant-a'],
    ['snat', 'udp', () => bolt, 'tenant-b'],
  ] as const)('has its UDP flows moved at once, and no other (%s, probed by %s)', async (_, type, who, tenant) => {
    const probed = type === 'tcp' ? { monitorPort: PORT.http } : {}
    const members = [1, 2].map((index) => member(index as 1 | 2, PORT.udp, probed))
    const pool = { members, monitor: { ...quickCheck('tcp'), type } }
    const shown = await system.createLoadBalancer(who(), balancer(`udp-${tenant}`, 'udp', { pool }))
    const ports = Array.from({ length: 24 }, (_, n) => 46_000 + n)
    const whoHas = async () => {
      const names = new Map<number, string>()
      for (const sourcePort of ports) {
        const outcome = await client.udp(vipOf(shown), 80, 'x', { sourcePort })
        names.set(sourcePort, outcome.ok ? (outcome.value.split(' ')[0] ?? '') : outcome.code)
      }
      return names
    }
    for (const name of ['member1', 'member2']) await isHealth(who(), shown, name, 'up')
    const before = await whoHas()
    expect(new Set(before.values())).toEqual(new Set([`${tenant}-member1`, `${tenant}-member2`]))
    await kill(`member-${tenant}-member1`)
    await isHealth(who(), shown, 'member1', 'down')
    await waitFor(async () => (await client.udp(vipOf(shown), 80, 'x', { sourcePort: portOf(before, 1) })).ok, {
      what: 'a moved flow to be answered',
    })
    await waitFor(async () => [...(await whoHas()).values()].every((name) => name === `${tenant}-member2`), {
      what: 'all of its flows to be moved',
    })
    await startMember(system.lab, `${tenant}-member1`)
    await isHealth(who(), shown, 'member1', 'up')
    // They stay on their new members.
    expect(new Set((await whoHas()).values())).toEqual(new Set([`${tenant}-member2`]))
  })

  it.each([false, true])('resets its TCP connections only if asked to (resetOnDown %s)', async (resetOnDown) => {
    const members = (checked: number) => [member(1, PORT.tcp, { monitorPort: checked }), member(2, PORT.tcp)]
    const pool = { members: members(PORT.tcp), monitor: quickCheck('tcp'), resetOnDown }
    const shown = await system.createLoadBalancer(acme, balancer(`reset-${resetOnDown}`, 'tcp', { pool }))
    for (const name of ['member1', 'member2']) await isHealth(acme, shown, name, 'up')
    const held = []
    for (let n = 0; n < 12; n++) held.push(await client.hold(vipOf(shown), 80))
    expect(new Set(held.map((one) => one.member)).size).toBe(2)
    // No server on port 1: the member lives, but its check fails.
    await membersAre(acme, shown, ...members(1))
    await isHealth(acme, shown, 'member1', 'down')
    await waitFor(async () => (await share(vipOf(shown), 8)).get('tenant-a-member2') === 8, { what: 'the rotation' })
    for (const one of held) {
      const isReset = resetOnDown && one.member === 'tenant-a-member1'
      // New connections turn to the other member before the old ones are reset.
      if (isReset) await waitFor(async () => !(await one.say('hello')).ok, { what: 'the connection to be reset' })
      else expect((await one.say('hello')).ok).toBe(true)
      await one.drop()
    }
  })

  it('is taken out by what traffic says before its check finds out, and let in by its check', async () => {
    // The check alone would need 20 s.
    const monitor = { type: 'tcp', intervalMs: 2000, timeoutMs: 500, rise: 1, fall: 10 }
    const pool = { monitor, passiveCheck: { failures: 3, holdSeconds: 1 } }
    const shown = await system.createLoadBalancer(acme, balancer('watched', 'http', { pool }))
    for (const name of ['member1', 'member2']) await isHealth(acme, shown, name, 'up')
    await kill('member-tenant-a-member1')
    await waitFor(
      async () => {
        const [answer] = await client.members(vipOf(shown), 1)
        // The proxy tries another member: nobody notices.
        expect(answer?.member).toBe('tenant-a-member2')
        return (await healthOf(acme, shown, 'member1'))?.health === 'down'
      },
      { what: 'the watch', timeoutMs: 15_000 },
    )
    expect((await healthOf(acme, shown, 'member1'))?.reason).toMatch(/^\d+ connections in a row failed$/)
    expect(await healthOf(acme, shown, 'member2')).toMatchObject({ health: 'up' })
    await startMember(system.lab, 'tenant-a-member1')
    await isHealth(acme, shown, 'member1', 'up')
    await waitFor(
      async () => (await client.members(vipOf(shown), 4)).some((answer) => answer?.member === 'tenant-a-member1'),
      { what: 'its share' },
    )
  })
})

it('a load balancer behind which nobody answers is active, and says so in every surface', async () => {
  // No server on this port.
  const members = [1, 2].map((index) => member(index as 1 | 2, 1))
  const shown = await system.createLoadBalancer(
    acme,
    balancer('deaf', 'tcp', { port: 81, pool: { members, monitor: quickCheck('tcp') } }),
  )
  const said = await waitFor(
    async () => {
      const { status } = await system.loadBalancer(acme, shown.id)
      return status.serving.state === 'no' && status
    },
    { what: 'it to say that nobody answers', timeoutMs: 30_000 },
  )
  expect(said).toMatchObject({
    provisioning: 'active',
    serving: { reason: 'AllMembersDown', membersUp: 0, members: 2 },
  })
  expect(said.serving.message).toMatch(/^0 of 2 members answer\. Down: .*connection refused/)
  expect(await spout('lb', 'list')).toMatch(/^deaf .* active .* no /m)
  expect(await spout('explain', 'lb', 'deaf')).toContain('connection refused')
  const url = `${system.access.endpoint}/load-balancer/v2/lbaas/loadbalancers/${shown.id}`
  const answer = await fetch(url, { headers: { 'x-auth-token': acme.token } })
  expect(await answer.json()).toMatchObject({
    loadbalancer: { provisioning_status: 'ACTIVE', operating_status: 'ERROR' },
  })
})

it('a mass failure is rather the check: below the panic threshold everybody serves', async () => {
  const members = [member(1, PORT.tcp, { monitorPort: 1 }), member(2, PORT.tcp, { monitorPort: 1 })]
  const pool = (panicThreshold: number) => ({ members, monitor: quickCheck('tcp'), panicThreshold })
  const calm = await system.createLoadBalancer(acme, balancer('calm', 'tcp', { pool: pool(0) }))
  const panics = await system.createLoadBalancer(acme, balancer('panics', 'tcp', { pool: pool(50) }))
  for (const name of ['member1', 'member2']) {
    await isHealth(acme, calm, name, 'down')
    await isHealth(acme, panics, name, 'down')
  }
  await waitFor(async () => (await share(vipOf(calm), 4)).get('ECONNREFUSED') === 4, { what: 'nobody to serve' })
  expect([...(await share(vipOf(panics), 24)).keys()].sort()).toEqual(['tenant-a-member1', 'tenant-a-member2'])
})

describe('a member that leaves', () => {
  it.each([
    ['is removed', []],
    ['has weight 0', [member(1, PORT.tcp, { weight: 0 })]],
  ] as const)('keeps its connections until the deadline (%s)', async (what, left) => {
    const create = (drainSeconds: number | undefined) =>
      system.createLoadBalancer(
        acme,
        balancer(`drain-${what}-${drainSeconds}`.replaceAll(' ', '-'), 'tcp', {
          pool: { members: [member(1, PORT.tcp)], drainSeconds },
        }),
      )
    const [soon, late] = [await create(1), await create(undefined)]
    const [ends, stays] = [await client.hold(vipOf(soon), 80), await client.hold(vipOf(late), 80)]
    for (const shown of [soon, late]) {
      await membersAre(acme, shown, ...left, member(2, PORT.tcp))
      expect([...(await share(vipOf(shown), 4)).keys()]).toEqual(['tenant-a-member2'])
    }
    await waitFor(async () => !(await ends.say('over?')).ok, { what: 'the end of the drain' })
    expect(await stays.say('still there?')).toEqual({ ok: true, value: 'still there?' })
    for (const one of [ends, stays]) await one.drop()
  })
})

describe('a member that comes back', () => {
  it('grows to its share, and goes on where it was when the agent is killed', async () => {
    const create = (name: string, slowStartSeconds: number) =>
      system.createLoadBalancer(acme, balancer(name, 'tcp', { pool: { monitor: quickCheck('tcp'), slowStartSeconds } }))
    const [slow, slower] = [await create('slow', 10), await create('slower', 3600)]
    const all = [slow, slower]
    for (const shown of all) for (const name of ['member1', 'member2']) await isHealth(acme, shown, name, 'up')
    await kill('member-tenant-a-member1')
    for (const shown of all) await isHealth(acme, shown, 'member1', 'down')
    await startMember(system.lab, 'tenant-a-member1')
    for (const shown of all) await isHealth(acme, shown, 'member1', 'up')
    // A tenth of the slots: 20 or more of 60 connections have a probability of 10^-6.
    const early = async () => (await share(vipOf(slower), 60)).get('tenant-a-member1') ?? 0
    expect(await early()).toBeLessThan(20)
    await kill(`agent-${NODE}`)
    const since = Date.now()
    await startAgent(system.lab, system.access, NODE)
    await system.inSyncAfter(NODE, since)
    expect(await early()).toBeLessThan(20)
    await waitFor(async () => ((await share(vipOf(slow), 60)).get('tenant-a-member1') ?? 0) > 24, {
      what: 'the whole share',
      timeoutMs: 30_000,
    })
  })
})

const portOf = (owners: ReadonlyMap<number, string>, index: 1 | 2): number =>
  [...owners].find(([, name]) => name.endsWith(`member${index}`))?.[0] ?? 0
