import {
  Caller,
  nodesInSync,
  type ShownLoadBalancer,
  startAgent,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BgpRouter } from '../packages/dataplane/src/testing/bgp/bgp-router.ts'
import { moveNode, shownVip } from './announcing-group.ts'
import { BFD, BGP_SETTINGS, LOCAL_AS, NEIGHBORS, NODES, ROUTER, startRouter } from './bgp-fabric.ts'
import { BOLT, balancer, vipOf } from './fixtures.ts'
import { addEdge, createEdgePool, EDGE, edgeAddress, presentAt } from './second-fabric.ts'

/** A node moves to a group that announces by BGP on another interface, and back: to the same router, in two networks. */

const NODE = 'node1'
const OWN = NODES[NODE]
const THERE = edgeAddress(0)
const [INNER] = NEIGHBORS
/** The node as the router knows it there. */
const OUTER = { ...INNER!, name: 'edge1', address: THERE }

let system: TestSystem
let router: BgpRouter
let client: Caller
let bolt: Tenant
let edgeId: string

beforeAll(async () => {
  const set = [...BGP_SETTINGS, `network.fabricCidrs=["198.51.100.0/24", "${EDGE.cidr}"]`]
  system = await TestSystem.start({ tenants: [BOLT], nodes: [], set })
  bolt = system.tenants[0]!
  await addEdge(system.lab, [NODE])
  // An agent whose own settings choose no interface.
  const ownChoice = ["fabric.interface=''", `fabric.address=${OWN}`]
  await startAgent(system.lab, system.access, NODE, { set: ownChoice })
  await nodesInSync(system.access, 1)
  router = await startRouter(system.lab, [INNER!, OUTER])
  const { items } = await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')
  const group = { name: 'edge', announcer: 'bgp', bgp: { localAs: LOCAL_AS }, fabric: { reaches: EDGE.gateway } }
  edgeId = (await asAdmin<{ id: string }>('POST', '/node-groups', { ...group, projectIds: null })).id
  for (const [name, address, id] of [
    ['inner', ROUTER.address, items[0]?.id],
    ['outer', EDGE.gateway, edgeId],
  ]) {
    const nodeSelection = { nodeGroupIds: [id] }
    await asAdmin('POST', '/bgp-peers', { name, address, as: ROUTER.as, bfd: BFD, nodeSelection })
  }
  client = await Caller.start(system.lab, 'client')
})
afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await router?.stop()
  await system?.destroy()
})

const asAdmin = <T>(method: string, at: string, body?: unknown): Promise<T> =>
  system.api<T>(system.access.admin, method, at, body)

/** Waits until the router has exactly this session, with BFD, and the node says the same. */
async function sessionIs(name: string, peer: string): Promise<void> {
  const up = async (): Promise<string> => {
    const established = (await router.sessions()).filter(({ bgpState }) => bgpState === 'Established')
    const watched = (await router.bfd()).filter(({ state }) => state === 'up').map(({ address }) => address)
    return [...established.map((session) => session.name), ...watched].join()
  }
  const told = async (): Promise<string> => {
    const { items } = await asAdmin<{ items: { name: string; status: { sessions: { state: string }[] } }[] }>(
      'GET',
      '/bgp-peers',
    )
    return items.flatMap((one) => one.status.sessions.map(({ state }) => `${one.name} ${state}`)).join()
  }
  const wanted = [`${name},${name === INNER!.name ? OWN : THERE}`, `${peer} established`].join()
  await waitFor(async () => [await up(), await told()].join() === wanted, {
    what: `the session of ${name} alone`,
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${await up()}, ${await told()}`)
  })
}

const answers = (shown: ShownLoadBalancer): Promise<unknown> =>
  waitFor(
    async () => {
      const outcome = await client.http(vipOf(shown), 80, { timeoutMs: 1000 })
      return outcome.ok && outcome.value.status === 200
    },
    { what: `${vipOf(shown)} to answer` },
  )

it('opens its session from the address of the interface that its group names, and none is left on the other', async () => {
  await sessionIs(INNER!.name, 'inner')
  await moveNode(system, NODE, 'edge')
  await sessionIs(OUTER.name, 'outer')
  expect((await presentAt(system.lab, NODE, 'fab0')).rules).toBe(0)
  expect((await presentAt(system.lab, NODE, EDGE.interface)).rules).toBeGreaterThan(0)
})

it('announces an address there, by which clients reach it', async () => {
  const vips = [{ from: 'pool', poolId: await createEdgePool(system) }]
  const { id } = await system.api<ShownLoadBalancer>(bolt, 'POST', '/load-balancers', {
    ...balancer('shop', 'http'),
    ...{ nodeGroupId: edgeId, vips },
  })
  const shop = await system.active(bolt, id)
  const prefix = `${vipOf(shop)}/32`
  await waitFor(async () => (await router.nextHops(prefix)).join() === THERE, { what: `the router to reach ${prefix}` })
  expect(await router.routes(prefix)).toMatchObject([{ from: OUTER.name, path: `${LOCAL_AS}` }])
  await answers(shop)
  // By the route alone: nobody answers for it on the segment.
  expect(await system.boundAddresses(NODE)).not.toContain(vipOf(shop))
  expect(await shownVip(system, shop)).toMatchObject({ state: 'announced', announcer: 'bgp', owners: [NODE] })
  await system.api(bolt, 'DELETE', `/load-balancers/${id}?cascade=true`)
  await waitFor(async () => (await router.nextHops(prefix)).length === 0, { what: 'the router to forget it' })
})

it('comes back to the session of its own interface', async () => {
  await moveNode(system, NODE, 'default')
  await sessionIs(INNER!.name, 'inner')
  const shop = await system.createLoadBalancer(bolt, balancer('shop', 'http'))
  await waitFor(async () => (await router.nextHops(`${vipOf(shop)}/32`)).join() === OWN, {
    what: 'the router to reach an address there',
  })
  await answers(shop)
  expect((await presentAt(system.lab, NODE, EDGE.interface)).rules).toBe(0)
})
