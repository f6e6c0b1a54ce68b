import path from 'node:path'
import { askOn, bundled, Caller, run, type ShownLoadBalancer, type Tenant, TestSystem, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bothTakePart, schedule, shownVip } from './announcing-group.ts'
import { ACME, BOLT, balancer, vipOf } from './fixtures.ts'
import { dropAll, expectAlive, holdSome, PATIENCE_MS } from './traffic.ts'

// A node moves to another group and back: nothing of the group that it leaves is lost.

const NODES = ['node1', 'node2'] as const
const GROUP = 'inside'

let system: TestSystem
let client: Caller
let shop: ShownLoadBalancer
let groupId: string

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: ['nodes.announcer=vrrp'] })
  // A machine that stalls briefly must not move anything.
  const { items } = await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')
  await asAdmin('PATCH', `/node-groups/${items[0]!.id}`, { vrrp: { profile: 'relaxed' } })
  await bothTakePart(system)
  groupId = (
    await asAdmin<{ id: string }>('POST', '/node-groups', {
      name: GROUP,
      vrrp: { shards: 1, profile: 'relaxed' },
      projectIds: null,
    })
  ).id
  shop = await system.createLoadBalancer(tenant(), balancer('shop', 'tcp'))
  client = await Caller.start(system.lab, 'client')
})
afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const tenant = (): Tenant => system.tenants[0]!
const asAdmin = <T>(method: string, at: string, body?: unknown): Promise<T> =>
  system.api<T>(system.access.admin, method, at, body)
const ownerOf = async (shown: ShownLoadBalancer): Promise<string | null> => {
  const { state, owners } = await shownVip(system, shown)
  return state === 'announced' ? (owners[0] ?? null) : null
}
const owned = (shown: ShownLoadBalancer): Promise<string> =>
  waitFor(() => ownerOf(shown), { what: `a node to announce ${vipOf(shown)}` })
const groupOf = async (name: string): Promise<string> =>
  (await asAdmin<{ nodeGroupName: string }>('GET', `/nodes/${(await system.nodeNamed(name)).id}`)).nodeGroupName

/** `spout node move`, as the administrator. */
async function move(...words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const program = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
  const { endpoint, admin } = system.access
  const argv = [process.execPath, program, 'node', 'move', ...words]
  const { stdout, stderr, code } = await run(argv, { env: { SPOUT_ENDPOINT: endpoint, SPOUT_TOKEN: admin.token } })
  return { code, text: `${stdout}${stderr}` }
}

describe('a node that moves to another group', () => {
  let owner: string
  let inner: ShownLoadBalancer

  it('is refused as long as it is not drained', async () => {
    owner = await owned(shop)
    const { id } = await system.nodeNamed(owner)
    await expect(asAdmin('PATCH', `/nodes/${id}`, { nodeGroupId: groupId })).rejects.toThrow('drain it first')
    expect(await groupOf(owner)).toBe('default')
  })

  it('hands its addresses over first: no connection of the group that it leaves ends', async () => {
    const held = await holdSome(client, shop, 16)
    const talks = held.map((connection) => askOn(() => connection.say('going on', PATIENCE_MS)))
    const { code, text } = await move(owner, GROUP)
    expect([code, text]).toEqual([0, expect.stringContaining(`Moved ${owner} from group default to ${GROUP}.\n`)])
    expect(await owned(shop)).toBe(NODES.find((name) => name !== owner))
    const said = (await Promise.all(talks.map((talk) => talk.stop()))).flat()
    expect(said.length).toBeGreaterThan(0)
    expect(said.filter(({ ok }) => !ok)).toEqual([])
    await expectAlive(held)
    await dropAll(held)
  })

  it('carries the load balancers of its new group', async () => {
    inner = await system.createLoadBalancer(system.tenants[1]!, { ...balancer('inner', 'tcp'), nodeGroupId: groupId })
    expect(await owned(inner)).toBe(owner)
    const held = await holdSome(client, inner, 4)
    await expectAlive(held)
    await dropAll(held)
  })

  it('does not leave a group that has nobody else for its addresses, and says so', async () => {
    const { code, text } = await move(owner, 'default', '--timeout-s', '2')
    expect([code, text]).toEqual([1, expect.stringContaining('it goes on draining')])
    expect([await groupOf(owner), await ownerOf(inner)]).toEqual([GROUP, owner])
    await schedule(system, owner, 'enabled')
  })

  it('comes back once nothing needs it there, and takes part as before', async () => {
    await asAdmin('DELETE', `/load-balancers/${inner.id}?cascade=true`)
    expect((await move(owner, 'default')).code).toBe(0)
    await bothTakePart(system)
    const held = await holdSome(client, shop, 4)
    await schedule(system, await owned(shop), 'draining')
    await waitFor(async () => (await ownerOf(shop)) === owner, { what: 'the address to move to it' })
    await expectAlive(held)
    await dropAll(held)
  })
})
