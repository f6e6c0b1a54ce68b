import {
  answerThroughRouter,
  Caller,
  callApi,
  domainNamespaces,
  type FarMember,
  holdFarVip,
  holdVip,
  joinFarMember,
  nodesInSync,
  powerOff,
  powerOn,
  run,
  type ShownLoadBalancer,
  startMember,
  type Tenant,
  type TenantSpec,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { balancer, CLIENT, member, PORT, quickCheck, tally, vipOf } from './fixtures.ts'
import { dropAll, expectAlive } from './traffic.ts'

/** Members hold the VIP and answer clients through the router of their own network. */
const DIRECT: TenantSpec = {
  project: 'dune',
  user: 'dora',
  password: 'dora-in-the-lab',
  segment: 'tenant-a',
  returnPath: 'dsr',
}
/** The control plane moves nothing here: only the nodes do. */
const SET = ['nodes.announcer=vrrp', 'liveness.disconnectedAfterMs=1500', 'liveness.moveAfterMs=600000']
const NODES = ['node1', 'node2'] as const
const FLOWS = 24

let system: TestSystem
let client: Caller
let dune: Tenant
/** TCP echo on the members' own port. */
let shop: ShownLoadBalancer

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [DIRECT], set: SET })
  ;[dune] = system.tenants as [Tenant]
  await answerThroughRouter(system.lab, DIRECT.segment)
  const listeners = (['tcp', 'http'] as const).map((name) => ({
    ...{ name, protocol: 'tcp', port: PORT[name], defaultPool: name },
  }))
  const pools = (['tcp', 'http'] as const).map((name) => ({
    ...{ name, protocol: 'tcp', members: [member(1, PORT[name]), member(2, PORT[name])] },
  }))
  shop = await system.createLoadBalancer(dune, { name: 'shop', listeners, pools })
  await holdVip(system.lab, DIRECT.segment, vipOf(shop))
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const other = (node: string): string => (node === 'node1' ? 'node2' : 'node1')

const holder = (): Promise<string> =>
  waitFor(
    async () => {
      const bound = await Promise.all(NODES.map((node) => system.boundAddresses(node)))
      const holders = NODES.filter((_, index) => bound[index]!.includes(vipOf(shop)))
      return holders.length === 1 && holders[0]
    },
    { what: `one node to hold ${vipOf(shop)}` },
  )

const hold = () => Promise.all(Array.from({ length: FLOWS }, () => client.hold(vipOf(shop), PORT.tcp)))

interface NodeShards {
  readonly status: { readonly shards: readonly { readonly state: string }[] }
}

beforeEach(async () => {
  await nodesInSync(system.access, 2)
  await waitFor(
    async () => {
      const { items } = await system.api<{ items: NodeShards[] }>(system.access.admin, 'GET', '/nodes')
      const states = items.flatMap(({ status }) => status.shards.map(({ state }) => state))
      return states.length === 2 * 4 && states.every((state) => state === 'master' || state === 'backup')
    },
    { what: 'both nodes to take part in every shard' },
  )
  await holder()
})

describe('members that hold the VIP', () => {
  it('answer the client themselves, all of them, and see its address', async () => {
    const answers = await client.members(vipOf(shop), 40, { port: PORT.http })
    expect([...tally(answers.map((answer) => answer?.member)).keys()].sort()).toEqual([
      'tenant-a-member1',
      'tenant-a-member2',
    ])
    expect(new Set(answers.map((answer) => answer?.from))).toEqual(new Set([`::ffff:${CLIENT}`]))
    // No node keeps state of it.
    for (const node of NODES)
      for (const namespace of domainNamespaces(system.lab, node)) {
        const { stdout } = await run(['ip', 'netns', 'exec', namespace, 'conntrack', '-L'])
        expect(stdout).not.toContain(vipOf(shop))
      }
  })

  it('are shown as such, with what a node can count', async () => {
    const explained = await system.api<{ returnPath: string; connections: string }>(
      dune,
      'GET',
      `/load-balancers/${shop.id}/explain`,
    )
    expect(explained).toMatchObject({
      returnPath: 'dsr',
      connections: expect.stringMatching(/^return path dsr, .*established connections outlive a node/),
    })
    const listener = shop.listeners.find(({ name }) => name === 'http')!.id
    await waitFor(
      async () => {
        const { stats } = (await system.loadBalancer(dune, shop.id)).status
        return (stats[listener]?.totalConnections ?? 0) >= 40 && stats[listener]?.bytesOut === 0
      },
      { what: 'the connections to be counted' },
    )
  })

  it('keep every connection when the node that led them there loses its power, and when it is back', async () => {
    const held = await hold()
    expect(new Set(held.map((one) => one.member)).size).toBe(2)
    const dead = await holder()
    await powerOff(system.lab, dead)
    await expectAlive(held)
    // The dead one may still have it bound: nobody was left there to release it.
    await waitFor(async () => (await system.boundAddresses(other(dead))).includes(vipOf(shop)), {
      what: `${other(dead)} to hold ${vipOf(shop)}`,
    })
    await powerOn(system.lab, system.access, dead)
    await nodesInSync(system.access, 2)
    await waitFor(async () => (await holder()) === other(dead), { what: `${dead} to let go` })
    await expectAlive(held)
    await dropAll(held)
  })

  it('lose none of them to a drain', async () => {
    const held = await hold()
    const { id } = await system.nodeNamed(await holder())
    await system.api(system.access.admin, 'PUT', `/nodes/${id}/scheduling`, { scheduling: 'draining' })
    await waitFor(async () => (await system.nodeNamed(await holder())).id !== id, {
      what: 'the other node to take over',
    })
    await expectAlive(held)
    await system.api(system.access.admin, 'PUT', `/nodes/${id}/scheduling`, { scheduling: 'enabled' })
    await dropAll(held)
  })
})

describe('a member behind a router', () => {
  const FAR: FarMember = { place: 'far1', address: '10.8.1.11' }
  let chat: ShownLoadBalancer

  beforeAll(async () => {
    const { lab, access } = system
    await joinFarMember(lab, FAR)
    await startMember(lab, FAR.place)
    const draft = { name: 'far', cidr: '10.8.0.0/16', reach: 'tunnel' }
    await system.api(access.admin, 'POST', `/networks/${dune.networkId}/subnets`, draft)
    const { number } = await system.api<{ number: number }>(dune, 'GET', `/networks/${dune.networkId}`)
    const members = [member(1, PORT.tcp), { name: 'far', address: FAR.address, port: PORT.tcp }]
    chat = await system.createLoadBalancer(
      dune,
      balancer('chat', 'tcp', { port: PORT.tcp, pool: { members, monitor: quickCheck('tcp') } }),
    )
    await holdVip(lab, DIRECT.segment, vipOf(chat))
    await holdFarVip(lab, FAR, number, vipOf(chat))
  })

  const up = () =>
    waitFor(
      async () => {
        const { members } = (await system.loadBalancer(dune, chat.id)).status
        return chat.pools[0]!.members.every(({ id }) => members[id]?.health === 'up')
      },
      { what: 'both members to be up' },
    )

  it('is probed, and answers beside one on the segment', async () => {
    await up()
    const held = await Promise.all(Array.from({ length: FLOWS }, () => client.hold(vipOf(chat), PORT.tcp)))
    expect([...new Set(held.map((one) => one.member))].sort()).toEqual(['far1', 'tenant-a-member1'])
    await dropAll(held)
  })

  it('keeps its connections when the node dies', async () => {
    await up()
    const held = await Promise.all(Array.from({ length: FLOWS }, () => client.hold(vipOf(chat), PORT.tcp)))
    const dead = await holder()
    await powerOff(system.lab, dead)
    await expectAlive(held)
    await powerOn(system.lab, system.access, dead)
    await nodesInSync(system.access, 2)
    await expectAlive(held)
    await dropAll(held)
  })

  it('leaves nothing behind when it goes with its subnet', async () => {
    await system.api(dune, 'DELETE', `/load-balancers/${chat.id}?cascade=true`)
    const { subnets } = await system.api<{ subnets: { id: string; name: string }[] }>(
      dune,
      'GET',
      `/networks/${dune.networkId}`,
    )
    const { id } = subnets.find(({ name }) => name === 'far')!
    await system.api(system.access.admin, 'DELETE', `/networks/${dune.networkId}/subnets/${id}`)
    const links = (node: string) =>
      Promise.all(
        domainNamespaces(system.lab, node).map(
          async (namespace) => (await run(['ip', '-n', namespace, '-br', 'link'])).stdout,
        ),
      )
    await waitFor(async () => !(await Promise.all(NODES.map(links))).flat().join().includes('tunnel'), {
      what: 'the tunnels to go',
    })
    const held = await hold()
    await expectAlive(held)
    await dropAll(held)
  })
})

describe('what return path dsr cannot do', () => {
  it.each([
    ['another port', balancer('bad', 'tcp', { port: 80 }), 'pools[0].members[0].port'],
    ['a proxy', balancer('bad', 'http', { port: PORT.http }), 'listeners[0].protocol'],
    [
      'a connection limit',
      balancer('bad', 'tcp', { port: PORT.tcp, listener: { connectionLimit: 5 } }),
      'listeners[0].connectionLimit',
    ],
  ])('is refused where it is asked for: %s', async (_, body, field) => {
    const vips = [{ from: 'pool', poolId: system.publicPoolId }]
    const refused = callApi(system.access.endpoint, dune.token, 'POST', '/load-balancers', { vips, ...body })
    await expect(refused).rejects.toThrow(field)
  })
})
