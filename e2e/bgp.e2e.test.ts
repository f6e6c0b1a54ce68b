import {
  askOn,
  Caller,
  nodesInSync,
  powerOff,
  powerOn,
  type ShownLoadBalancer,
  startAgent,
  startMember,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BgpRouter, RouterNeighbor } from '../packages/dataplane/src/testing/bgp/bgp-router.ts'
import { bothTakePart, schedule, shownVip } from './announcing-group.ts'
import {
  BFD,
  BGP_SETTINGS,
  LOCAL_AS,
  NAMES,
  NEIGHBORS,
  NODES,
  type NodeName,
  ROUTER,
  startRouter,
} from './bgp-fabric.ts'
import { ACME, BOLT, balancer, CLIENT, quickCheck, vipOf } from './fixtures.ts'
import { agentOf, daemonsOf } from './node-processes.ts'
import { dropAll, expectAlive, failuresOf, holdSome } from './traffic.ts'

const neighbors6: readonly RouterNeighbor[] = NAMES.map((name, index) => ({
  name: `six${name}`,
  address: `2001:db8:f::${2 + index}`,
  as: LOCAL_AS,
  families: ['ipv6'],
}))
const GRACEFUL_SHUTDOWN = '65535:0'

let system: TestSystem
let router: BgpRouter
let client: Caller
let acme: Tenant
let bolt: Tenant
let groupId: string
/** Return path `gateway`: announced by the node with its network's gateway. */
let shop: ShownLoadBalancer
/** Return path `snat`: announced by both. */
let blog: ShownLoadBalancer

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: BGP_SETTINGS })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  router = await startRouter(system.lab)
  const { items } = await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')
  groupId = items[0]?.id ?? ''
  await changeGroup({ vrrp: { profile: 'relaxed' }, bgp: { drainSeconds: 3600 } })
  await asAdmin('POST', '/bgp-peers', { name: 'tor', address: ROUTER.address, as: ROUTER.as, bfd: BFD })
  shop = await system.createLoadBalancer(acme, balancer('shop', 'tcp'))
  const monitor = quickCheck('http')
  blog = await system.createLoadBalancer(bolt, balancer('blog', 'http', { pool: { monitor } }))
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await router?.stop()
  await system?.destroy()
})

const asAdmin = <T>(method: string, at: string, body?: unknown): Promise<T> =>
  system.api<T>(system.access.admin, method, at, body)
const changeGroup = (change: object): Promise<unknown> => asAdmin('PATCH', `/node-groups/${groupId}`, change)

const other = (node: NodeName): NodeName => (node === 'node1' ? 'node2' : 'node1')
const nodeAt = (address: string): NodeName => NAMES.find((name) => NODES[name] === address) as NodeName

const vip = (shown: ShownLoadBalancer) => shownVip(system, shown)
const hopsOf = (shown: ShownLoadBalancer): Promise<readonly string[]> => router.nextHops(`${vipOf(shown)}/32`)

/** Waits until the router reaches the address only through these nodes. */
const routedBy = async (shown: ShownLoadBalancer, nodes: readonly NodeName[]): Promise<void> => {
  const wanted = nodes.map((node) => NODES[node]).join()
  await waitFor(async () => (await hopsOf(shown)).join() === wanted, {
    what: `the router to reach ${vipOf(shown)} by ${wanted || 'nobody'}`,
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${await hopsOf(shown)}, ${JSON.stringify(await vip(shown))}`)
  })
}

/** The one node through which the router reaches the address. */
const carrierOf = (shown: ShownLoadBalancer): Promise<NodeName> =>
  waitFor(
    async () => {
      const hops = await hopsOf(shown)
      return hops.length === 1 && nodeAt(hops[0] ?? '')
    },
    { what: `one node to carry ${vipOf(shown)}` },
  )

interface Session {
  readonly nodeName: string
  readonly state: string
  readonly announced: number
  readonly lastError: string | null
  readonly bfd: string | null
}

interface ShownSessions {
  readonly status: { readonly bgpSessions: readonly (Session & { readonly peerId: string })[] }
}

const sessionsOf = async (peer: string): Promise<readonly Session[]> => {
  const { items } = await asAdmin<{ items: { name: string; status: { sessions: Session[] } }[] }>('GET', '/bgp-peers')
  const sessions = items.find(({ name }) => name === peer)?.status.sessions ?? []
  return sessions.toSorted((a, b) => (a.nodeName < b.nodeName ? -1 : 1))
}

const sessionsUp = (): Promise<unknown> =>
  waitFor(
    async () => {
      const sessions = await sessionsOf('tor')
      return sessions.length === 2 && sessions.every(({ state, bfd }) => state === 'established' && bfd === 'up')
    },
    { what: 'both sessions and BFD to be up' },
  ).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(await sessionsOf('tor'))}`)
  })

const answers = (shown: ShownLoadBalancer) =>
  waitFor(async () => (await client.tcp(vipOf(shown), 80, { timeoutMs: 1000 })).ok, {
    what: `${vipOf(shown)} to answer over TCP`,
  })
const answersHttp = (shown: ShownLoadBalancer) =>
  waitFor(async () => (await client.http(vipOf(shown), 80, { timeoutMs: 1000 })).ok, {
    what: `${vipOf(shown)} to answer over HTTP`,
  })

/** Client ports whose flows to the address the router sends to a node. */
async function portsBy(shown: ShownLoadBalancer, node: NodeName, count: number): Promise<readonly number[]> {
  const found: number[] = []
  for (let port = 20_000; found.length < count && port < 20_500; port++) {
    const flow = ['from', CLIENT, 'iif', 'cl0', 'ipproto', 'tcp', 'sport', `${port}`, 'dport', '80']
    const text = await system.lab.must('router', ['ip', 'route', 'get', vipOf(shown), ...flow])
    if (text.includes(`via ${NODES[node]} `)) found.push(port)
  }
  expect(found).toHaveLength(count)
  return found
}

const requests = () => askOn(() => client.http(vipOf(blog), 80, { timeoutMs: 3000 }))

beforeEach(async () => {
  await nodesInSync(system.access, 2)
  await sessionsUp()
  await bothTakePart(system)
  await routedBy(blog, NAMES)
  await carrierOf(shop)
  await answersHttp(blog)
  await answers(shop)
})

describe('a group that announces by BGP', () => {
  it('brings an address to the router from both nodes, and both answer', async () => {
    expect(await vip(blog)).toMatchObject({ state: 'announced', announcer: 'bgp', shard: null, owners: NAMES })
    for (const route of await router.routes(`${vipOf(blog)}/32`)) expect(route).toMatchObject({ path: `${LOCAL_AS}` })
    for (const node of NAMES) {
      const sourcePort = (await portsBy(blog, node, 1))[0]!
      expect(await client.http(vipOf(blog), 80, { sourcePort })).toMatchObject({ ok: true, value: { status: 200 } })
    }
    expect(await sessionsOf('tor')).toMatchObject(
      NAMES.map((nodeName) => ({ nodeName, state: 'established', lastError: null, bfd: 'up' })),
    )
  })

  it('brings an address of return path gateway from the node alone that holds the gateway', async () => {
    const carrier = await carrierOf(shop)
    await waitFor(async () => (await vip(shop)).owners.join() === carrier, { what: `${carrier} to be the owner` })
    expect(await vip(shop)).toMatchObject({ state: 'announced', announcer: 'bgp', shard: expect.any(Number) })
    const held = await holdSome(client, shop, 8)
    await expectAlive(held)
    await dropAll(held)
  })
})

describe('a node that loses its power', () => {
  it('is left out by the router, and flows through the other one go on', async () => {
    const survivor = await carrierOf(shop)
    const dead = other(survivor)
    const held = await holdSome(client, shop, 16)
    const traffic = requests()
    await powerOff(system.lab, dead)
    await routedBy(blog, [survivor])
    // Not after the hold time, when it would keep the routes for a graceful restart.
    const lost = (await router.sessions()).find(({ name }) => name === dead)
    expect(lost?.lastError).toMatch(/BFD/)
    await expectAlive(held)
    await answers(shop)
    await waitFor(async () => (await system.nodeNamed(dead)).status.connection === 'disconnected', {
      what: `${dead} to be disconnected`,
    })
    // Connections of the proxy end with its node: the request in progress may have been one of them.
    expect(failuresOf(await traffic.stop()).length).toBeLessThanOrEqual(1)
    await answersHttp(blog)

    await powerOn(system.lab, system.access, dead)
    await routedBy(blog, NAMES)
    await sessionsUp()
    expect(await carrierOf(shop)).toBe(survivor)
    await expectAlive(held)
    await dropAll(held)
  })

  it('hands its flows of return path gateway to the other one, which announces them', async () => {
    const dead = await carrierOf(shop)
    const held = await holdSome(client, shop, 16)
    await powerOff(system.lab, dead)
    await routedBy(shop, [other(dead)])
    await expectAlive(held)
    await waitFor(async () => (await vip(shop)).owners.join() === other(dead), { what: `${other(dead)} to own it` })

    await powerOn(system.lab, system.access, dead)
    await routedBy(blog, NAMES)
    await routedBy(shop, [other(dead)])
    await expectAlive(held)
    await dropAll(held)
  })
})

describe('an agent that comes back', () => {
  it('withdraws what its node lost while it was away', async () => {
    const loser = await carrierOf(shop)
    await system.lab.stop(agentOf(system.lab, loser), 'SIGKILL')
    // Nobody restarts it: the other node takes the shard over, and BIRD does not learn of it.
    for (const { pid } of await daemonsOf(system.lab, loser, ['keepalived'])) process.kill(pid, 'SIGKILL')
    await routedBy(shop, NAMES)
    await startAgent(system.lab, system.access, loser)
    await routedBy(shop, [other(loser)])
    await waitFor(async () => (await vip(shop)).owners.join() === other(loser), { what: `${other(loser)} to own it` })
    await routedBy(blog, NAMES)
  })
})

describe('policy healthy', () => {
  it('withdraws an address whose members are all down, and announces it again', async () => {
    const members = ['tenant-b-member1', 'tenant-b-member2']
    for (const member of members) await system.lab.stop(system.lab.process(`member-${member}`)!, 'SIGKILL')
    await routedBy(blog, [])
    await waitFor(async () => (await vip(blog)).state === 'not-announced', { what: 'nobody to announce it' })
    await carrierOf(shop)
    for (const member of members) await startMember(system.lab, member)
    await routedBy(blog, NAMES)
    await waitFor(async () => (await vip(blog)).owners.length === 2, { what: 'both to announce it' })
    await answersHttp(blog)
  })
})

describe('a drained node', () => {
  it('asks the router to prefer the other, then announces nothing; no connection of the packet path breaks', async () => {
    const drained = await carrierOf(shop)
    const held = await holdSome(client, shop, 8)
    const traffic = requests()
    const connects = askOn(() => client.tcp(vipOf(shop), 80, { timeoutMs: 3000 }))
    await schedule(system, drained, 'draining')
    await waitFor(
      async () =>
        (await router.routes(`${vipOf(blog)}/32`)).some(
          ({ from, communities }) => from === drained && communities.includes(GRACEFUL_SHUTDOWN),
        ),
      { what: `${drained} to ask for others` },
    )
    // Its drain time is over now.
    await changeGroup({ bgp: { drainSeconds: 0 } })
    await waitFor(async () => (await router.routes(`${vipOf(blog)}/32`)).every(({ from }) => from === other(drained)), {
      what: `${drained} to announce nothing`,
    })
    await routedBy(blog, [other(drained)])
    await routedBy(shop, [other(drained)])
    await sessionsUp()
    await expectAlive(held)
    await schedule(system, drained, 'enabled')
    await routedBy(blog, NAMES)
    await expectAlive(held)
    expect((await connects.stop()).filter(({ ok }) => !ok)).toEqual([])
    // The router moves flows to other nodes as soon as a route goes or comes.
    expect(failuresOf(await traffic.stop())).toEqual([])
    await dropAll(held)
  })
})

describe('a peer with another AS than it was said to have', () => {
  it('is named with the reason, and the sessions with the others go on', async () => {
    await router.configure([...NEIGHBORS, ...neighbors6])
    const address = '2001:db8:f::1'
    const { id } = await asAdmin<{ id: string }>('POST', '/bgp-peers', {
      name: 'odd',
      address,
      as: 64_999,
      bfd: 'none',
    })
    const refused = await waitFor(
      async () => {
        const sessions = await sessionsOf('odd')
        return sessions.length === 2 && sessions.every(({ lastError }) => lastError?.includes('AS')) && sessions
      },
      { what: 'both nodes to say what is wrong' },
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify(await sessionsOf('odd'))}`)
    })
    for (const { state, lastError, bfd } of refused) {
      expect(state).not.toBe('established')
      expect(lastError).toMatch(/Bad peer AS.*expected 64999/)
      expect(bfd).toBeNull()
    }
    const told = (await asAdmin<{ items: ShownSessions[] }>('GET', '/nodes')).items
    for (const { status } of told)
      expect(status.bgpSessions.find(({ peerId }) => peerId === id)?.lastError).toMatch(/expected 64999/)
    await sessionsUp()
    await routedBy(blog, NAMES)

    await asAdmin('PATCH', `/bgp-peers/${id}`, { as: ROUTER.as })
    await waitFor(async () => (await sessionsOf('odd')).every(({ state }) => state === 'established'), {
      what: 'the sessions to come up once the AS is right',
    })
    await asAdmin('DELETE', `/bgp-peers/${id}`)
    await waitFor(
      async () =>
        (await asAdmin<{ items: ShownSessions[] }>('GET', '/nodes')).items.every(
          ({ status }) => status.bgpSessions.length === 1,
        ),
      { what: 'the sessions to be gone' },
    )
    await sessionsUp()
    await router.configure(NEIGHBORS)
  })
})

describe('a group that is changed live', () => {
  it('to vrrp and back, answers in the end', async () => {
    await changeGroup({ announcer: 'vrrp' })
    await routedBy(blog, [])
    await waitFor(async () => (await vip(blog)).owners.length === 1, { what: 'one owner by VRRP' })
    expect(await vip(blog)).toMatchObject({ announcer: 'vrrp' })
    await answersHttp(blog)
    await answers(shop)
    await waitFor(async () => (await sessionsOf('tor')).length === 0, { what: 'the nodes to tell of no session' })
    const bird = async () => (await Promise.all(NAMES.map((node) => daemonsOf(system.lab, node, ['bird'])))).flat()
    await waitFor(async () => (await bird()).length === 0, { what: 'BIRD to end on all nodes' })
    await changeGroup({ announcer: 'bgp' })
    await routedBy(blog, NAMES)
    await carrierOf(shop)
    await answersHttp(blog)
    await answers(shop)
    for (const node of NAMES) expect(await system.boundAddresses(node)).not.toContain(vipOf(blog))
  })
})
