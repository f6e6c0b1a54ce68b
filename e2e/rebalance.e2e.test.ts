import path from 'node:path'
import {
  askOn,
  bundled,
  Caller,
  type HeldConnection,
  powerOff,
  powerOn,
  run,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schedule, shownVip } from './announcing-group.ts'
import { ACME, BOLT, balancer, vipOf } from './fixtures.ts'
import { Clients } from './kept-alive.ts'
import { proxiesOf } from './node-processes.ts'
import { dropAll, expectAlive, holdSome, PATIENCE_MS } from './traffic.ts'

/** Only requested moves and moves by the nodes themselves happen here. */
const SET = ['nodes.announcer=vrrp', 'liveness.disconnectedAfterMs=1500', 'liveness.moveAfterMs=600000']
const NODES = ['node1', 'node2'] as const
type NodeName = (typeof NODES)[number]
const FLOWS = 16

interface ShownNode {
  readonly id: string
  readonly name: NodeName
  readonly status: { readonly shards: readonly { readonly number: number; readonly state: string }[] }
}
interface Move {
  readonly shard: number
  readonly fromNodeId: string
  readonly toNodeId: string
}

let system: TestSystem
let client: Caller
let groupId: string
/** TCP with return path `gateway` and, in the other shard, `snat`; and each through the proxy. */
let balancers: readonly ShownLoadBalancer[]

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: SET })
  const { items } = await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')
  groupId = items[0]!.id
  // A machine that stalls briefly must not move anything, which would break proxied connections.
  await asAdmin('PATCH', `/node-groups/${groupId}`, { vrrp: { shards: 2, profile: 'relaxed' } })
  const [acme, bolt] = system.tenants as [Tenant, Tenant]
  const proxied = { listener: { protocol: 'tcp-proxy' } }
  balancers = [
    await system.createLoadBalancer(acme, balancer('shop', 'tcp')),
    await system.createLoadBalancer(bolt, balancer('chat', 'tcp')),
    await system.createLoadBalancer(acme, balancer('shop-proxied', 'tcp', proxied)),
    await system.createLoadBalancer(bolt, balancer('chat-proxied', 'tcp', proxied)),
  ]
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const asAdmin = <T>(method: string, at: string, body?: unknown): Promise<T> =>
  system.api<T>(system.access.admin, method, at, body)
const rebalance = (body: object = {}) =>
  asAdmin<{ moves: readonly Move[] }>('POST', `/node-groups/${groupId}/rebalance`, body)
const nodes = async (): Promise<readonly ShownNode[]> =>
  (await asAdmin<{ items: ShownNode[] }>('GET', '/nodes')).items.toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** Names of the shards' owners, in order; null unless each shard has one master and, when `ready`, one backup. */
async function owners(ready = true): Promise<readonly NodeName[] | null> {
  const all = await nodes()
  const found = [1, 2].map((number) => {
    const states = all.map(({ name, status }) => ({
      name,
      state: status.shards.find((shard) => shard.number === number)?.state,
    }))
    const masters = states.filter(({ state }) => state === 'master')
    const whole = masters.length === 1 && (!ready || states.some(({ state }) => state === 'backup'))
    return whole ? masters[0]?.name : undefined
  })
  return found.every((name) => name !== undefined) ? found : null
}
const settled = (): Promise<readonly NodeName[]> =>
  waitFor(owners, { what: 'each shard to have a master and a backup' })
const owned = (names: readonly NodeName[]): Promise<unknown> =>
  waitFor(async () => (await owners())?.join() === names.join(), { what: `the shards to be at ${names.join()}` })
const even = (): Promise<unknown> =>
  waitFor(async () => new Set(await owners()).size === 2, { what: 'both nodes to own a shard', timeoutMs: 30_000 })

/** Kills one node and lets it return: the other has everything then. */
async function allAtOne(): Promise<{ readonly owner: NodeName; readonly idle: NodeName }> {
  const [first] = await settled()
  const idle = first!
  const owner = NODES.find((name) => name !== idle)!
  await powerOff(system.lab, idle)
  await powerOn(system.lab, system.access, idle)
  await owned([owner, owner])
  return { owner, idle }
}

const holdAll = async (): Promise<readonly HeldConnection[]> =>
  (await Promise.all(balancers.map((shown) => holdSome(client, shown, FLOWS)))).flat()

/** `spout node-group rebalance default`, as the administrator. */
async function spout(...options: readonly string[]): Promise<string> {
  const program = bundled(path.resolve(import.meta.dirname, '../apps/cli/src/main.ts'))
  const { endpoint, admin } = system.access
  const argv = [process.execPath, program, 'node-group', 'rebalance', 'default', ...options]
  const { stdout, stderr, code } = await run(argv, { env: { SPOUT_ENDPOINT: endpoint, SPOUT_TOKEN: admin.token } })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

/** Sends on every connection again and again, until stopped; returns what was not answered. */
function talkOn(held: readonly HeldConnection[]) {
  const talks = held.map((connection) => askOn(() => connection.say('going on', PATIENCE_MS)))
  return { stop: async () => (await Promise.all(talks.map((talk) => talk.stop()))).flat().filter(({ ok }) => !ok) }
}

/** A move is planned from the nodes' last reports: both must have reported that they have everything. */
const moves = (): Promise<readonly Move[]> =>
  waitFor(
    async () => {
      const planned = await rebalance({ dryRun: true })
      return planned.moves.length > 0 && planned.moves
    },
    { what: 'a shard that may move' },
  )

describe('a node that returned', () => {
  it('is given its part on request, and no established flow is lost', async () => {
    const { owner, idle } = await allAtOne()
    const ids = new Map((await nodes()).map(({ id, name }) => [name, id]))
    const planned = await moves()
    expect(planned).toEqual([{ shard: 2, fromNodeId: ids.get(owner), toNodeId: ids.get(idle) }])
    // The dry run moved nothing.
    expect(await owners()).toEqual([owner, owner])
    const held = await holdAll()
    await expectAlive(held)
    expect(await spout('--dry-run')).toBe(`shard 2: ${owner} -> ${idle}\n`)
    // Traffic also while it moves.
    const talk = talkOn(held)
    expect(await spout()).toMatch(new RegExp(`^shard 2: ${owner} -> ${idle}\nMoved 1 shards in [0-9.]+ s.\n$`))
    await owned([owner, idle])
    expect(await talk.stop()).toEqual([])
    await expectAlive(held)
    const steps = await asAdmin<{ steps: { state: string }[] }>('GET', `/node-groups/${groupId}/rebalance`)
    expect(steps.steps.map(({ state }) => state)).toEqual(['done'])
    // Also long after the move; and new connections go to both.
    await expectAlive([...held, ...(await holdAll())])
    await dropAll(held)
    expect(await spout()).toBe('The shards are even: nothing moves.\n')
  })

  it('the history of an address that moved names the reason', async () => {
    const shown = await Promise.all(balancers.map(async (each) => ({ each, ...(await shownVip(system, each)) })))
    const moved = shown.find(({ shard }) => shard === 2)
    if (moved === undefined) throw new Error('no load balancer is in shard 2')
    const { items } = await asAdmin<{ items: { event: string; reason: string | null }[] }>(
      'GET',
      `/vips/${vipOf(moved.each)}/history`,
    )
    expect(items.slice(-2)).toMatchObject([{ event: 'released', reason: 'rebalanced' }, { event: 'taken' }])
  })

  it('is given its part by itself after a quiet time, where that is wanted', async () => {
    const [first, second] = await settled()
    await asAdmin('PATCH', `/node-groups/${groupId}`, { rebalanceAfterSeconds: 2 })
    const held = await holdAll()
    await schedule(system, second!, 'draining')
    await waitFor(async () => (await owners(false))?.join() === [first, first].join(), { what: 'the drain' })
    await schedule(system, second!, 'enabled')
    await even()
    await expectAlive(held)
    await dropAll(held)
    await asAdmin('PATCH', `/node-groups/${groupId}`, { rebalanceAfterSeconds: 0 })
  })

  it('is given its part, and clients of the proxy come to it before their time is up', async () => {
    const { owner, idle } = await allAtOne()
    const seconds = 24
    await asAdmin('PATCH', `/node-groups/${groupId}`, { secondChanceSeconds: seconds })
    const [acme, bolt] = system.tenants as [Tenant, Tenant]
    const blogs = [
      await system.createLoadBalancer(acme, balancer('shop-blog', 'http')),
      await system.createLoadBalancer(bolt, balancer('chat-blog', 'http')),
    ]
    const shown = await Promise.all(blogs.map(async (blog) => ({ blog, shard: (await shownVip(system, blog)).shard })))
    const [stays, moves2] = [1, 2].map((shard) => shown.find((each) => each.shard === shard)!.blog) as [
      ShownLoadBalancer,
      ShownLoadBalancer,
    ]
    for (const blog of blogs) {
      const url = `http://${vipOf(blog)}/`
      const answered = async () => (await system.lab.run('client', ['curl', '-sf', '-m', '2', url])).code === 0
      await waitFor(answered, { what: 'an answer' })
    }
    await moves()
    await using moved = new Clients(system, vipOf(moves2))
    await using staying = new Clients(system, vipOf(stays))
    for (const clients of [moved, staying]) {
      await clients.idle()
      await clients.goOn()
    }
    await rebalance()
    await owned([owner, idle])
    const failures: string[] = []
    let opened = 0
    const follow = async () => {
      const seen = await moved.goOn()
      failures.push(...seen.failures)
      opened += seen.opened
    }
    // Each of the busy clients was asked to reconnect by its proxy's next process.
    await waitFor(
      async () => {
        await follow()
        return opened >= 8
      },
      { what: 'the clients to come again' },
    )
    await moved.idle()
    // The replaced processes end by themselves: each network has one. Nobody needs the rest of the time.
    await waitFor(async () => (await proxiesOf(system.lab, owner)).length === system.tenants.length, {
      what: 'the replaced processes to end',
    })
    await asAdmin('PATCH', `/node-groups/${groupId}`, { secondChanceSeconds: 1 })
    await waitFor(
      async () => {
        await follow()
        const left = await system.lab.run('host', [
          ...['ip', 'netns', 'exec', system.lab.namespace(idle), 'nft', 'list', 'tables'],
        ])
        return !left.stdout.includes('second-chance')
      },
      { what: 'the second chance to be over', timeoutMs: 60_000 },
    )
    await moved.idle()
    await follow()
    expect(failures).toEqual([])
    // Clients of what did not move were not asked.
    expect(await staying.goOn()).toMatchObject({ failures: [], opened: 0 })
    await staying.idle()
    await asAdmin('PATCH', `/node-groups/${groupId}`, { secondChanceSeconds: 300 })
  })

  it('is refused for a group that has no shards, and for none at all', async () => {
    const { id } = await asAdmin<{ id: string }>('POST', '/node-groups', { name: 'flat', announcer: 'l2' })
    await expect(asAdmin('POST', `/node-groups/${id}/rebalance`, {})).rejects.toThrow('l2 has no shards')
    await expect(asAdmin('POST', '/node-groups/nobody/rebalance', {})).rejects.toThrow('Node group nobody')
    await asAdmin('DELETE', `/node-groups/${id}`)
  })
})
