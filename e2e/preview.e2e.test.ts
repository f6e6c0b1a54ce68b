import type { ConnectionFate, DrainPreview, Preview } from '@spout/model'
import { Caller, type HeldConnection, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bothTakePart, schedule, shownVip, spoutNode } from './announcing-group.ts'
import { ACME, BOLT, balancer, member, PORT, vipOf } from './fixtures.ts'

let system: TestSystem
let client: Caller

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT] })
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

type Body = Readonly<Record<string, unknown>>

/** A write of a load balancer, with what is asked for. */
interface Write {
  readonly method: 'PATCH' | 'PUT' | 'DELETE'
  readonly path: (shown: ShownLoadBalancer) => string
  readonly body?: (shown: ShownLoadBalancer) => Body
}

const ofListener = ({ id, listeners }: ShownLoadBalancer) => `/load-balancers/${id}/listeners/${listeners[0]?.id}`
const ofPool = ({ id, pools }: ShownLoadBalancer) => `/load-balancers/${id}/pools/${pools[0]?.id}`
const itself = ({ id }: ShownLoadBalancer) => `/load-balancers/${id}`

const members = (...list: readonly object[]): Write => ({
  method: 'PUT',
  path: (shown) => `${ofPool(shown)}/members`,
  body: () => ({ members: list }),
})
const both = (weight: number) => members(member(1, PORT.tcp, { weight }), member(2, PORT.tcp))
const secondLeaves = members(member(1, PORT.tcp))
const onPort: Write = { method: 'PATCH', path: ofListener, body: () => ({ port: 81 }) }
const withoutListener: Write = { method: 'DELETE', path: ofListener }
const proxied: Write = {
  method: 'PUT',
  path: itself,
  body: ({ listeners, pools }) => ({
    ...{ listeners: listeners.map((one) => ({ ...one, protocol: 'tcp-proxy' })) },
    pools: pools.map((one) => ({ ...one, protocol: 'tcp-proxy' })),
  }),
}
const disabled: Write = { method: 'PATCH', path: itself, body: () => ({ enabled: false }) }
const gone: Write = { method: 'DELETE', path: itself }

/** What the preview says of open connections: of those to the second member, or of all. */
type Said = Pick<ConnectionFate, 'fate' | 'code'> & { readonly afterSeconds?: number }

/** Whether the connection goes on; null: that depends on the network. */
type Lives = boolean | null

const CASES: readonly (readonly [what: string, pool: Body, write: Write, said: readonly Said[], lives: Lives])[] = [
  ['another weight', {}, both(7), [], true],
  ['a member that leaves', {}, secondLeaves, [{ fate: 'drain', code: 'MembersLeave', afterSeconds: 300 }], true],
  [
    'a member that leaves a pool with a short drain',
    { drainSeconds: 1 },
    secondLeaves,
    [{ fate: 'drain', code: 'MembersLeave', afterSeconds: 1 }],
    false,
  ],
  [
    'a member that leaves a pool without drain',
    { drainSeconds: 0 },
    secondLeaves,
    [{ fate: 'end', code: 'MembersLeave', afterSeconds: 0 }],
    false,
  ],
  ['another port', {}, onPort, [{ fate: 'stay', code: 'PortChanges' }], true],
  ['a disabled load balancer', {}, disabled, [{ fate: 'may-end', code: 'Disabled' }], null],
  ['a deleted load balancer', {}, gone, [{ fate: 'end', code: 'Deleted' }], false],
]

const CASES_OF = {
  // Few, so that the proxy has room for them: one that starts anew to have more leaves its connections to the former process.
  'tcp-proxy': [
    ['another weight', {}, both(7), [], true],
    [
      'a member that leaves a pool with a short drain',
      { drainSeconds: 1 },
      secondLeaves,
      [{ fate: 'drain', code: 'MembersLeave', afterSeconds: 1 }],
      false,
    ],
    [
      'the end of the listener',
      { drainSeconds: 1 },
      withoutListener,
      [{ fate: 'drain', code: 'MembersLeave', afterSeconds: 1 }],
      false,
    ],
  ],
  tcp: [
    ...CASES,
    ['the end of the listener', { drainSeconds: 0 }, withoutListener, [{ fate: 'stay', code: 'ListenerLeaves' }], true],
    ['another protocol', {}, proxied, [{ fate: 'end', code: 'ProtocolChanges' }], false],
  ],
} as const satisfies Record<string, typeof CASES>

describe.each([
  ['tcp-proxy', 'gateway', () => system.tenants[0]],
  ['tcp', 'gateway', () => system.tenants[0]],
  ['tcp', 'snat', () => system.tenants[1]],
] as const)('connections of protocol %s with return path %s', (protocol, path, tenantOf) => {
  it.each<(typeof CASES)[number]>(CASES_OF[protocol])(
    'meet %s as the preview says',
    async (what, pool, write, said, lives) => {
      const tenant = tenantOf() as Tenant
      const name = `${protocol}-${path}-${what.replaceAll(' ', '-')}`
      const listener = { protocol }
      const shown = await system.createLoadBalancer(
        tenant,
        balancer(name, 'tcp', { listener, pool: { protocol, ...pool } }),
      )
      const held = await heldBySecond(vipOf(shown))
      const call = [tenant, write.method, write.path(shown)] as const
      const preview = await system.api<Preview>(call[0], call[1], `${call[2]}?dryRun=true`, write.body?.(shown))
      expect(preview.plan.connections.map(({ fate, code }) => ({ fate, code }))).toEqual(
        said.map(({ fate, code }) => ({ fate, code })),
      )
      expect(preview.plan.connections.flatMap(({ afterSeconds }) => afterSeconds ?? [])).toEqual(
        said.flatMap(({ afterSeconds }) => afterSeconds ?? []),
      )
      expect(await held.say('still here')).toEqual({ ok: true, value: 'still here' })
      await system.api(call[0], call[1], call[2], write.body?.(shown))
      if (write.method === 'DELETE' && write.path === itself) await withdrawn(tenant, shown.id)
      else await system.active(tenant, shown.id)
      if (lives === true) expect(await held.say('afterwards')).toEqual({ ok: true, value: 'afterwards' })
      if (lives === false)
        await waitFor(async () => !(await held.say('over?', 500)).ok, { what: 'the connection to end' })
      await held.drop()
    },
  )
})

describe('the drain of a node', () => {
  const proxy = { listener: { protocol: 'tcp-proxy' }, pool: { protocol: 'tcp-proxy' } }

  it('hands its addresses to whom the dry run says, and connections meet what it says', async () => {
    const [acme, bolt] = system.tenants as [Tenant, Tenant]
    const first = await system.createLoadBalancer(acme, balancer('drain-gateway', 'tcp'))
    const made = [
      first,
      await system.createLoadBalancer(bolt, balancer('drain-snat', 'tcp')),
      await system.createLoadBalancer(acme, balancer('drain-proxied', 'tcp', proxy)),
    ]
    await bothTakePart(system)
    const held = await Promise.all(made.map((shown) => client.hold(vipOf(shown), 80)))
    const from = await ownerOf(system, first)
    const said = await drainPreview(system, from)
    expect(said).toMatchObject({ node: { name: from }, reports: true, hasSuccessor: true })
    expect(said.moves.flatMap(({ addresses }) => addresses)).toContain(vipOf(first))
    expect(said.moves.map(({ how }) => how)).not.toContain('stay')
    expect(said.connections.map(({ fate, code, afterSeconds }) => [fate, code, afterSeconds])).toEqual(
      expect.arrayContaining([
        ['drain', 'Proxied', 300],
        ['stay', 'ThroughGateway', null],
      ]),
    )
    expect(said.connections.map(({ fate }) => fate)).not.toContain('end')
    const told = await spoutNode(system, 'drain', from, '--dry-run')
    for (const { shard, to } of said.moves) expect(told).toContain(`shard ${shard} -> ${to?.name}: `)
    const json = await spoutNode(system, 'drain', from, '--dry-run', '--output', 'json')
    expect(JSON.parse(json)).toEqual(said)
    expect((await shownVip(system, first)).owners).toEqual([from])

    await schedule(system, from, 'draining')
    for (const { to, addresses } of said.moves)
      for (const shown of made.filter((one) => addresses.includes(vipOf(one)))) await takenBy(system, shown, to?.name)
    for (const one of held) expect(await one.say('afterwards')).toEqual({ ok: true, value: 'afterwards' })
    await schedule(system, from, 'enabled')
    for (const one of held) await one.drop()
  })

  it('gives connections that only the node knows the time of the group, as the dry run says', async () => {
    const set = ['nodes.announcer=l2', 'liveness.moveAfterMs=600000']
    const other = await TestSystem.start({ tenants: [BOLT], set })
    const asAdmin = <T>(...call: readonly [method: 'GET' | 'PATCH', path: string, body?: object]) =>
      other.api<T>(other.access.admin, ...call)
    try {
      await using caller = await Caller.start(other.lab, 'client')
      const shown = await other.createLoadBalancer(other.tenants[0]!, balancer('alone', 'tcp'))
      const [group] = (await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')).items
      for (const [seconds, connections] of [
        [10, { fate: 'drain', code: 'LedBackInTime', afterSeconds: 10 }],
        [0, { fate: 'end', code: 'OnlyHere', afterSeconds: null }],
      ] as const) {
        await asAdmin('PATCH', `/node-groups/${group?.id}`, { secondChanceSeconds: seconds })
        const held = await caller.hold(vipOf(shown), 80)
        const from = await ownerOf(other, shown)
        const said = await drainPreview(other, from)
        expect(said).toMatchObject({
          moves: [{ how: 'owner', shard: null, addresses: [vipOf(shown)] }],
          connections: [{ ...connections, loadBalancers: 1 }],
        })
        await schedule(other, from, 'draining')
        await takenBy(other, shown, said.moves[0]?.to?.name)
        if (seconds > 0) expect(await held.say('afterwards')).toEqual({ ok: true, value: 'afterwards' })
        await waitFor(async () => !(await held.say('over?', 500)).ok, { what: 'the connection to end' })
        await held.drop()
        await schedule(other, from, 'enabled')
      }
    } finally {
      await other.destroy()
    }
  })
})

/** What the drain of a node would do, as an administrator is told. */
async function drainPreview(of: TestSystem, node: string): Promise<DrainPreview> {
  const { id } = await of.nodeNamed(node)
  return of.api(of.access.admin, 'PUT', `/nodes/${id}/scheduling?dryRun=true`, { scheduling: 'draining' })
}

const ownerOf = (of: TestSystem, shown: ShownLoadBalancer): Promise<string> =>
  waitFor(
    async () => {
      const { owners } = await shownVip(of, shown)
      return owners.length === 1 && owners[0]!
    },
    { what: `one node to have ${vipOf(shown)}` },
  )

const takenBy = (of: TestSystem, shown: ShownLoadBalancer, name: string | undefined): Promise<unknown> =>
  waitFor(async () => (await shownVip(of, shown)).owners.join() === name, { what: `${name} to have ${vipOf(shown)}` })

/** A connection to the second member. */
const heldBySecond = (vip: string): Promise<HeldConnection> =>
  waitFor(
    async () => {
      const held = await client.hold(vip, 80)
      if (held.member.endsWith('member2')) return held
      await held.drop()
      return null
    },
    { what: 'a connection to the second member' },
  )

const withdrawn = (tenant: Tenant, id: string): Promise<unknown> =>
  waitFor(
    async () =>
      (await system.api<{ withdrawn: boolean }>(tenant, 'GET', `/load-balancers/${id}/withdrawal?waitMs=10000`))
        .withdrawn,
    { what: 'the load balancer to be withdrawn' },
  )
