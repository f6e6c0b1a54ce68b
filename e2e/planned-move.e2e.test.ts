import {
  domainNamespaces,
  nodesInSync,
  type ShownLoadBalancer,
  startAgent,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BgpRouter } from '../packages/dataplane/src/testing/bgp/bgp-router.ts'
import { schedule } from './announcing-group.ts'
import { NODES as ADDRESS, LOCAL_AS, ROUTER, startRouter } from './bgp-fabric.ts'
import { BOLT, balancer, vipOf } from './fixtures.ts'
import { Clients } from './kept-alive.ts'
import { agentOf, proxiesOf } from './node-processes.ts'

/** A planned move breaks no request of a client that never retries. */

const NODES = ['node1', 'node2'] as const
type NodeName = (typeof NODES)[number]
const other = (node: NodeName): NodeName => (node === 'node1' ? 'node2' : 'node1')
const DOWNLOAD_S = 6
/** Longer than any test: connections end only because nobody needs them. */
const SECONDS = 600

/** Reads a body that takes this many seconds. @returns its last line, or the error */
async function download(system: TestSystem, vip: string, takes: number, place = 'client'): Promise<string> {
  const url = `http://${vip}/download?seconds=${takes}`
  const { stdout, stderr, code } = await system.lab.run(place, ['curl', '-sS', '-m', '30', url])
  return code === 0 ? (stdout.trimEnd().split('\n').at(-1) ?? '') : stderr
}
const whole = (takes: number): RegExp => new RegExp(` ${takes * 200} of ${takes * 200}$`)

async function changeGroup(system: TestSystem, change: object): Promise<void> {
  const { items } = await system.api<{ items: { id: string }[] }>(system.access.admin, 'GET', '/node-groups')
  for (const { id } of items) await system.api(system.access.admin, 'PATCH', `/node-groups/${id}`, change)
}

/**
 * Who has which shard, since when and why, and how often each node took one over. A download that broke may have met a move
 * that nobody planned: a master that a busy machine keeps silent for half a second is given up.
 */
async function moves(system: TestSystem): Promise<string> {
  interface Shown {
    readonly name: string
    readonly status: { readonly shards: readonly object[] }
  }
  const { items } = await system.api<{ items: Shown[] }>(system.access.admin, 'GET', '/nodes')
  return JSON.stringify(items.map(({ name, status: { shards } }) => ({ name, shards })))
}

/** Tables of a second chance, on all nodes. */
async function tables({ lab }: TestSystem): Promise<readonly string[]> {
  const places = NODES.flatMap((node) => [lab.namespace(node), ...domainNamespaces(lab, node)])
  const found = await Promise.all(
    places.map(async (namespace) => {
      const { stdout } = await lab.run('host', ['ip', 'netns', 'exec', namespace, 'nft', 'list', 'tables'])
      return stdout.split('\n').filter((line) => line.includes('second-chance'))
    }),
  )
  return found.flat()
}

describe.each(['vrrp', 'l2'])('with announcer %s', (announcer) => {
  let system: TestSystem
  let clients: Clients
  let bolt: Tenant
  let blog: ShownLoadBalancer
  /** At an address of the tenant network itself. */
  let wiki: ShownLoadBalancer

  beforeAll(async () => {
    const set = [`nodes.announcer=${announcer}`, 'liveness.moveAfterMs=600000']
    system = await TestSystem.start({ tenants: [BOLT], set })
    bolt = system.tenants[0]!
    // A busy machine that misses adverts causes moves that nobody planned.
    await changeGroup(system, { secondChanceSeconds: SECONDS, vrrp: { profile: 'relaxed' } })
    blog = await system.createLoadBalancer(bolt, balancer('blog', 'http'))
    const { networkId, subnetId } = bolt
    const vips = [{ from: 'subnet', networkId, subnetId }]
    wiki = await system.createLoadBalancer(bolt, { ...balancer('wiki', 'http'), vips })
  })
  afterAll(() => system?.destroy())

  beforeEach(async () => {
    await holder()
    await waitFor(async () => (await download(system, vipOf(blog), 0.01)).endsWith('2 of 2'), { what: 'an answer' })
    clients = new Clients(system, vipOf(blog))
    await clients.idle()
    await clients.goOn()
  })
  afterEach(() => clients?.[Symbol.asyncDispose]())

  const holder = (): Promise<NodeName> =>
    waitFor(
      async () => {
        const bound = await Promise.all(NODES.map((node) => system.boundAddresses(node)))
        const holders = NODES.filter((_, index) => bound[index]!.includes(vipOf(blog)))
        return holders.length === 1 && holders[0]!
      },
      { what: 'one node to hold the address' },
    )
  const movedTo = (node: NodeName) => waitFor(async () => (await holder()) === node, { what: `${node} to take over` })

  /** Waits until the node has asked its clients to reconnect. */
  async function drained(node: NodeName): Promise<void> {
    const { id } = await system.nodeNamed(node)
    interface Shown {
      readonly status: { readonly departure: { readonly busyProxies: number | null } | null }
    }
    await waitFor(
      async () => {
        const { status } = await system.api<Shown>(system.access.admin, 'GET', `/nodes/${id}`)
        return (status.departure?.busyProxies ?? null) !== null
      },
      { what: `${node} to drain its proxies` },
    )
  }

  /** A node's reports of addresses claimed by another, which last a minute. */
  async function claimed(): Promise<readonly string[]> {
    const all = await Promise.all(NODES.map(async (node) => (await system.nodeNamed(node)).id))
    const shown = await Promise.all(
      all.map((id) =>
        system.api<{ name: string; status: { problems: { code: string; message: string }[] } }>(
          system.access.admin,
          'GET',
          `/nodes/${id}`,
        ),
      ),
    )
    return shown.flatMap(({ name, status }) =>
      status.problems.filter(({ code }) => code === 'AddressClaimed').map(({ message }) => `${name}: ${message}`),
    )
  }

  async function nothingLeft(on: NodeName): Promise<void> {
    const left = async () => ({ proxies: (await proxiesOf(system.lab, on)).length, tables: await tables(system) })
    const what = 'nothing to be left of the move'
    await waitFor(
      async () => {
        const { proxies, tables: found } = await left()
        return proxies === 1 && found.length === 0
      },
      { what, timeoutMs: 30_000 },
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${JSON.stringify([await left(), await system.nodes()])}`)
    })
  }

  it('a drain breaks no request, no download, and leaves nothing', async () => {
    const from = await holder()
    const downloaded = download(system, vipOf(blog), DOWNLOAD_S)
    const inside = download(system, vipOf(wiki), DOWNLOAD_S, 'tenant-b-member2')
    await schedule(system, from, 'draining')
    await movedTo(other(from))
    const during = await clients.goOn()
    expect(during.failures).toEqual([])
    await drained(from)
    expect((await clients.goOn()).failures).toEqual([])
    // A client that was silent all the time is answered, and reconnects after that.
    for (let time = 0; time < 2; time++) await clients.idle()
    expect((await clients.tell()).failures).toEqual([])
    expect(await downloaded, await moves(system)).toMatch(whole(DOWNLOAD_S))
    expect(await inside).toMatch(whole(DOWNLOAD_S))
    await nothingLeft(from)
    expect((await clients.goOn()).failures).toEqual([])
    // The node that gave the address up did not claim it afterwards.
    expect(await claimed()).toEqual([])
    await schedule(system, from, 'enabled')
    expect((await clients.goOn()).failures).toEqual([])
    expect(await holder()).toBe(other(from))
  })

  it('one drain after another breaks nothing either', async () => {
    const first = await holder()
    const downloads = [download(system, vipOf(blog), DOWNLOAD_S)]
    for (const from of [first, other(first)]) {
      await nodesInSync(system.access, 2)
      await schedule(system, from, 'draining')
      await movedTo(other(from))
      await schedule(system, from, 'enabled')
      expect((await clients.goOn()).failures).toEqual([])
      await clients.idle()
      downloads.push(download(system, vipOf(blog), DOWNLOAD_S))
    }
    for (const downloaded of downloads) expect(await downloaded, await moves(system)).toMatch(whole(DOWNLOAD_S))
    // The downloads took longer than closing idle clients does.
    for (let time = 0; time < 2; time++) await clients.idle()
    expect((await clients.tell()).failures).toEqual([])
    // The node that carries again may have clients from before its drain: for those only the time-out counts.
    await waitFor(async () => (await proxiesOf(system.lab, other(first))).length === 1, { what: 'nobody to be left' })
    await changeGroup(system, { secondChanceSeconds: 5 })
    await nothingLeft(first)
    expect(await claimed()).toEqual([])
    await clients.idle()
    expect((await clients.goOn()).failures).toEqual([])
    await changeGroup(system, { secondChanceSeconds: SECONDS })
  })

  it('an agent that is replaced breaks no connection, also during a proxy drain', async () => {
    const from = await holder()
    const restart = async (node: NodeName) => {
      await system.lab.stop(agentOf(system.lab, node))
      await startAgent(system.lab, system.access, node)
    }
    const downloaded = download(system, vipOf(blog), DOWNLOAD_S)
    await restart(from)
    expect((await clients.goOn()).failures).toEqual([])
    await schedule(system, from, 'draining')
    await movedTo(other(from))
    for (const node of NODES) await restart(node)
    expect((await clients.goOn()).failures).toEqual([])
    await clients.idle()
    expect((await clients.tell()).failures).toEqual([])
    expect(await downloaded, await moves(system)).toMatch(whole(DOWNLOAD_S))
    await drained(from)
    for (let time = 0; time < 2; time++) await clients.idle()
    await nothingLeft(from)
    expect((await clients.goOn()).failures).toEqual([])
    await schedule(system, from, 'enabled')
  })
})

describe('with announcer bgp', () => {
  let system: TestSystem
  let router: BgpRouter
  let blog: ShownLoadBalancer

  beforeAll(async () => {
    const set = ['nodes.announcer=bgp', `nodes.localAs=${LOCAL_AS}`, 'liveness.moveAfterMs=600000']
    system = await TestSystem.start({ tenants: [BOLT], set })
    router = await startRouter(
      system.lab,
      NODES.map((name) => ({ name, address: ADDRESS[name], as: LOCAL_AS, families: ['ipv4'] })),
    )
    await changeGroup(system, { secondChanceSeconds: 20, bgp: { drainSeconds: 1 } })
    await system.api(system.access.admin, 'POST', '/bgp-peers', { name: 'tor', address: ROUTER.address, as: ROUTER.as })
    blog = await system.createLoadBalancer(system.tenants[0]!, balancer('blog', 'http'))
  })
  afterAll(async () => {
    await router?.stop()
    await system?.destroy()
  })

  const routedBy = (nodes: readonly NodeName[]) =>
    waitFor(
      async () => (await router.nextHops(`${vipOf(blog)}/32`)).join() === nodes.map((node) => ADDRESS[node]).join(),
      {
        what: `the router to reach the address by ${nodes.join()}`,
      },
    )

  it('a node that goes and comes back breaks no request and no download', async () => {
    await routedBy(NODES)
    await waitFor(async () => (await download(system, vipOf(blog), 0.01)).endsWith('2 of 2'), { what: 'an answer' })
    await using clients = new Clients(system, vipOf(blog))
    await clients.idle()
    await clients.goOn()
    const downloads = Array.from({ length: 6 }, () => download(system, vipOf(blog), DOWNLOAD_S))
    await schedule(system, 'node1', 'draining')
    await routedBy(['node2'])
    expect((await clients.goOn()).failures).toEqual([])
    await clients.idle()
    for (const downloaded of downloads) expect(await downloaded).toMatch(whole(DOWNLOAD_S))
    // Some of these go to the other node as soon as there are two routes again.
    const more = Array.from({ length: 6 }, () => download(system, vipOf(blog), DOWNLOAD_S))
    await clients.goOn()
    await schedule(system, 'node1', 'enabled')
    await routedBy(NODES)
    expect((await clients.goOn()).failures).toEqual([])
    await clients.idle()
    for (const downloaded of more) expect(await downloaded).toMatch(whole(DOWNLOAD_S))
    expect((await clients.tell()).failures).toEqual([])
    // Nobody needs the rest of the time.
    await changeGroup(system, { secondChanceSeconds: 1 })
    await waitFor(async () => (await tables(system)).length === 0, { what: 'the move to be over', timeoutMs: 40_000 })
    await clients.idle()
    expect((await clients.goOn()).failures).toEqual([])
  })
})
