import {
  askOn,
  Caller,
  domainNamespaces,
  type HeldConnection,
  nodesInSync,
  powerOff,
  powerOn,
  run,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BgpRouter } from '../packages/dataplane/src/testing/bgp/bgp-router.ts'
import { bothTakePart, schedule, shownVip } from './announcing-group.ts'
import { BFD, BGP_SETTINGS, NAMES, NODES, type NodeName, ROUTER, startRouter } from './bgp-fabric.ts'
import { BOLT, balancer, vipOf } from './fixtures.ts'
import { daemonsOf } from './node-processes.ts'
import { dropAll, expectAlive, holdSome, PATIENCE_MS } from './traffic.ts'

const FLOWS = 24

let system: TestSystem
let router: BgpRouter
let client: Caller
let bolt: Tenant
/** TCP, return path `snat`. */
let chat: ShownLoadBalancer

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [BOLT], set: BGP_SETTINGS })
  ;[bolt] = system.tenants as [Tenant]
  router = await startRouter(system.lab)
  const { items } = await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')
  const settings = { vrrp: { profile: 'relaxed' }, bgp: { drainSeconds: 1 } }
  await asAdmin('PATCH', `/node-groups/${items[0]?.id}`, settings)
  await asAdmin('POST', '/bgp-peers', { name: 'tor', address: ROUTER.address, as: ROUTER.as, bfd: BFD })
  chat = await system.createLoadBalancer(bolt, balancer('chat', 'tcp'))
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await router?.stop()
  await system?.destroy()
})

const asAdmin = <T>(method: string, at: string, body?: unknown): Promise<T> =>
  system.api<T>(system.access.admin, method, at, body)
const other = (node: NodeName): NodeName => (node === 'node1' ? 'node2' : 'node1')

const hopsOf = async (shown: ShownLoadBalancer): Promise<readonly NodeName[]> => {
  const hops = await router.nextHops(`${vipOf(shown)}/32`)
  return NAMES.filter((name) => hops.includes(NODES[name]))
}

/** Waits until the router reaches the address only through these nodes. */
const routedBy = (shown: ShownLoadBalancer, nodes: readonly NodeName[]): Promise<unknown> =>
  waitFor(async () => (await hopsOf(shown)).join() === nodes.join(), {
    what: `the router to reach ${vipOf(shown)} by ${nodes.join() || 'nobody'}`,
  })

const carrier = (): Promise<NodeName> =>
  waitFor(
    async () => {
      const [first, ...more] = await hopsOf(chat)
      return more.length === 0 && first
    },
    { what: `one node to carry ${vipOf(chat)}` },
  )

interface ShownFlows {
  readonly name: NodeName
  readonly status: {
    readonly flows: { readonly carried: number; readonly ready: number; readonly silent: number } | null
    readonly problems: readonly { readonly code: string; readonly message: string }[]
  }
}

const statusOf = async (node: NodeName): Promise<ShownFlows['status']> => {
  const { items } = await asAdmin<{ items: ShownFlows[] }>('GET', '/nodes')
  return items.find(({ name }) => name === node)!.status
}

/** Waits until both nodes report that one carries at least this many flows, and that the other holds them ready. */
const replicated = (node: NodeName, count: number): Promise<unknown> =>
  waitFor(
    async () => {
      const [owner, heir] = [(await statusOf(node)).flows, (await statusOf(other(node))).flows]
      return (
        owner !== null &&
        heir !== null &&
        owner.carried >= count &&
        owner.ready + heir.carried === 0 &&
        heir.ready >= count
      )
    },
    { what: `${node} to carry ${count} flows that ${other(node)} knows` },
  ).catch(async (error: Error) => {
    const all = await Promise.all(NAMES.map(async (name) => ({ name, flows: (await statusOf(name)).flows })))
    throw new Error(`${error.message}: ${JSON.stringify(all)}`)
  })

/** The client's ports of its open connections with the load balancer. */
const openPorts = async (): Promise<readonly string[]> => {
  const shown = await system.lab.must('client', ['ss', '-Htn', 'state', 'established', 'dst', vipOf(chat)])
  return Array.from(shown.matchAll(/:(\d+) +\S+:80\s/g), ([, port]) => port!)
}

/** Those of them that a node has an entry of. */
const portsKnownTo = async (node: NodeName): Promise<ReadonlySet<string>> => {
  const listed = domainNamespaces(system.lab, node).map(async (namespace) => {
    const { stdout } = await run(['ip', 'netns', 'exec', namespace, 'conntrack', '-L', '-p', 'tcp', '-d', vipOf(chat)])
    return Array.from(stdout.matchAll(/ESTABLISHED src=\S+ dst=\S+ sport=(\d+) /g), ([, port]) => port!)
  })
  return new Set((await Promise.all(listed)).flat())
}

/** Waits until a node knows each open connection. Counts do not tell: they may be of connections that ended. */
const knownTo = (node: NodeName, count: number): Promise<unknown> =>
  waitFor(
    async () => {
      const [open, known] = [await openPorts(), await portsKnownTo(node)]
      expect(open).toHaveLength(count)
      return open.every((port) => known.has(port))
    },
    { what: `${node} to know ${count} open connections` },
  )

const talkOn = (held: readonly HeldConnection[]) =>
  askOn(async () => {
    const said = await Promise.all(held.map((connection) => connection.say('and on', PATIENCE_MS)))
    return said.find(({ ok }) => !ok) ?? said[0]!
  })

/** How often a client repeated the first packet of a connection. */
const repeatedSyns = async (): Promise<number> =>
  Number(/TCPSynRetrans +(\d+)/.exec(await system.lab.must('client', ['nstat', '-asz', 'TcpExtTCPSynRetrans']))?.[1])

beforeEach(async () => {
  await nodesInSync(system.access, 2)
  await bothTakePart(system)
  await carrier()
  await waitFor(async () => (await client.tcp(vipOf(chat), 80, { timeoutMs: 1000 })).ok, { what: 'an answer' })
})

describe('return path snat in a group that announces by BGP', () => {
  it('is announced by the node that members reply to, and says that connections outlive it', async () => {
    const node = await carrier()
    await waitFor(async () => (await shownVip(system, chat)).owners.join() === node, {
      what: `${node} to be the owner`,
    })
    expect(await shownVip(system, chat)).toMatchObject({ announcer: 'bgp', shard: expect.any(Number) })
    const explained = await asAdmin<{ connections: string }>('GET', `/load-balancers/${chat.id}/explain`)
    expect(explained.connections).toMatch(/replicated.*established connections outlive a node/)
    const blog = await system.createLoadBalancer(bolt, balancer('blog', 'http'))
    await routedBy(blog, NAMES)
    expect(await client.http(vipOf(blog), 80)).toMatchObject({ ok: true, value: { status: 200 } })
    await system.api(bolt, 'DELETE', `/load-balancers/${blog.id}`)
  })

  it('lets connections go on when the node loses its power, and when it is back', async () => {
    const dead = await carrier()
    const held = await holdSome(client, chat, FLOWS)
    await replicated(dead, FLOWS)
    await powerOff(system.lab, dead)
    await routedBy(chat, [other(dead)])
    await expectAlive(held)
    await powerOn(system.lab, system.access, dead)
    await nodesInSync(system.access, 2)
    await replicated(other(dead), FLOWS)
    await routedBy(chat, [other(dead)])
    await expectAlive(held)
    await dropAll(held)
  })

  it('lets them go on when the node is drained, and when the one that took over dies', async () => {
    const first = await carrier()
    const held = await holdSome(client, chat, FLOWS)
    await knownTo(other(first), FLOWS)
    const talk = talkOn(held)
    // Connections that begin before the routers know, too: at the node that was left.
    const repeated = await repeatedSyns()
    const connects = askOn(() => client.tcp(vipOf(chat), 80, { timeoutMs: 4000 }))
    await schedule(system, first, 'draining')
    await routedBy(chat, [other(first)])
    await replicated(other(first), FLOWS)
    await schedule(system, first, 'enabled')
    expect((await talk.stop()).filter(({ ok }) => !ok)).toEqual([])
    expect((await connects.stop()).filter(({ ok }) => !ok)).toEqual([])
    expect(await repeatedSyns()).toBe(repeated)
    await nodesInSync(system.access, 2)
    await bothTakePart(system)
    await routedBy(chat, [other(first)])
    await expectAlive(held)

    await knownTo(first, FLOWS)
    await powerOff(system.lab, other(first))
    await routedBy(chat, [first])
    await expectAlive(held)
    await powerOn(system.lab, system.access, other(first))
    await nodesInSync(system.access, 2)
    await replicated(first, FLOWS)
    await expectAlive(held)
    await dropAll(held)
  })

  it('lets them go on although the program that replicates them was killed in the meantime', async () => {
    const dead = await carrier()
    const held = await holdSome(client, chat, FLOWS)
    await replicated(dead, FLOWS)
    const killed = (await Promise.all(NAMES.map((node) => daemonsOf(system.lab, node, ['spout-flows'])))).flat()
    expect(killed).toHaveLength(2)
    for (const { pid } of killed) process.kill(pid, 'SIGKILL')
    await waitFor(
      async () => {
        const now = (await Promise.all(NAMES.map((node) => daemonsOf(system.lab, node, ['spout-flows'])))).flat()
        return now.length === 2 && now.every(({ pid }) => killed.every((one) => one.pid !== pid))
      },
      { what: 'the program to run on both nodes again' },
    )
    const more = await holdSome(client, chat, 4)
    await knownTo(other(dead), FLOWS + 4)
    await powerOff(system.lab, dead)
    await routedBy(chat, [other(dead)])
    await expectAlive([...held, ...more])
    await powerOn(system.lab, system.access, dead)
    await dropAll([...held, ...more])
  })

  it('says so when nodes do not hear of each other’s flows', async () => {
    const codes = async (node: NodeName) => (await statusOf(node)).problems.map(({ code }) => code)
    const table = 'add table inet mute; add chain inet mute in { type filter hook input priority 0; }'
    await system.lab.must('node1', ['nft', `${table}; add rule inet mute in udp dport 7300 drop`])
    await waitFor(async () => (await codes('node1')).includes('FlowPeerSilent'), {
      what: 'node1 to miss node2',
      timeoutMs: 30_000,
    })
    const [problem] = (await statusOf('node1')).problems
    expect(problem?.message).toMatch(/^Node `node2` \(198\.51\.100\.3\) was last heard at .*UDP port 7300/)
    const metrics = await (await fetch(new URL('/metrics', system.access.statusUrl))).text()
    expect(metrics).toContain('spout_flow_peers{node="node1",state="silent"} 1')
    expect(metrics).toContain('spout_flows{node="node2",role="carried"}')
    await system.lab.must('node1', ['nft', 'delete table inet mute'])
    await waitFor(async () => (await codes('node1')).length === 0, { what: 'node1 to hear node2', timeoutMs: 30_000 })
  })
})
