import {
  askOn,
  Caller,
  domainNamespaces,
  nodesInSync,
  powerOff,
  powerOn,
  recordFault,
  run,
  type ShownLoadBalancer,
  startAgent,
  startControlPlane,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bothTakePart, schedule, shownVip } from './announcing-group.ts'
import { ACME, BOLT, balancer, PORT, vipOf } from './fixtures.ts'
import { agentOf, daemonsOf } from './node-processes.ts'
import { dropAll, expectAlive, failuresOf, holdSome } from './traffic.ts'

/** The control plane moves nothing here: only the nodes do. */
const SET = ['nodes.announcer=vrrp', 'liveness.disconnectedAfterMs=1500', 'liveness.moveAfterMs=600000']
const ELECTION = ['keepalived', 'spout-mover']
const NODES = ['node1', 'node2'] as const

let system: TestSystem
let client: Caller
/** TCP, return path `gateway`: its flows survive a node. */
let shop: ShownLoadBalancer
/** HTTP through the proxy. */
let blog: ShownLoadBalancer
let acme: Tenant
let bolt: Tenant

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: SET })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  shop = await system.createLoadBalancer(acme, balancer('shop', 'tcp'))
  blog = await system.createLoadBalancer(bolt, balancer('blog', 'http'))
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const other = (node: string): string => (node === 'node1' ? 'node2' : 'node1')

const vip = (shown: ShownLoadBalancer) => shownVip(system, shown)

/** The one node that answers for the address, according to the control plane. */
const ownerOf = (shown: ShownLoadBalancer): Promise<string> =>
  waitFor(
    async () => {
      const { owners } = await vip(shown)
      return owners.length === 1 && owners[0]
    },
    { what: `one owner of ${vipOf(shown)}` },
  )

const ownedBy = async (shown: ShownLoadBalancer, node: string): Promise<void> => {
  const owners = await waitFor(
    async () => {
      const { owners: now } = await vip(shown)
      return now.length === 1 && now[0] === node && now
    },
    { what: `${node} to own ${vipOf(shown)}` },
  ).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(await vip(shown))}`)
  })
  expect(owners).toEqual([node])
}

/** Nodes that have the address bound in their kernel. */
const holdersOf = async (shown: ShownLoadBalancer): Promise<readonly string[]> => {
  const bound = await Promise.all(NODES.map((node) => system.boundAddresses(node)))
  return NODES.filter((_, index) => bound[index]!.includes(vipOf(shown)))
}

const oneHolder = (shown: ShownLoadBalancer): Promise<string> =>
  waitFor(
    async () => {
      const holders = await holdersOf(shown)
      return holders.length === 1 && holders[0]
    },
    { what: `one node to hold ${vipOf(shown)}` },
  )

const answers = (shown: ShownLoadBalancer) =>
  waitFor(async () => (await client.http(vipOf(shown), 80, { timeoutMs: 1000 })).ok, {
    what: `${vipOf(shown)} to answer over HTTP`,
  })

/** The duration of the last move, according to the control plane. */
const withoutOwner = async (): Promise<string> => `${(await vip(shop)).lastMove?.durationMs} ms without an owner`

const requests = () => askOn(() => client.http(vipOf(blog), 80, { timeoutMs: 2000 }))
const bothReport = (): Promise<void> => nodesInSync(system.access, 2)

beforeEach(async () => {
  await bothReport()
  await bothTakePart(system)
  for (const shown of [shop, blog]) await oneHolder(shown)
  await answers(blog)
})

describe('a node of a VRRP group', () => {
  it('alone holds an address, and the control plane knows which one', async () => {
    for (const shown of [shop, blog]) expect(await ownerOf(shown)).toBe(await oneHolder(shown))
    expect(await vip(shop)).toMatchObject({ state: 'announced' })
  })

  it('that loses its power hands over, and its connections go on', async () => {
    const dead = await ownerOf(shop)
    const held = await holdSome(client, shop, 24)
    await powerOff(system.lab, dead)
    await expectAlive(held)
    await ownedBy(shop, other(dead))
    await answers(blog)
    expect(await vip(shop)).toMatchObject({ lastMove: { node: other(dead), durationMs: expect.any(Number) } })

    // It comes back with everything that it had bound, though nothing of it is its own any more.
    await powerOn(system.lab, system.access, dead)
    await bothReport()
    await waitFor(async () => !(await holdersOf(shop)).includes(dead), { what: `${dead} to let go` })
    expect(await ownerOf(shop)).toBe(other(dead))
    await expectAlive(held)
    recordFault({
      fault: 'node: power lost',
      outcome: 'the other node takes over; it takes nothing back',
      figure: `${await withoutOwner()}, 0 of ${held.length} flows lost`,
    })
    await dropAll(held)
  })

  it('that loses its power hands over flows whose members see an address of the nodes', async () => {
    const chat = await system.createLoadBalancer(bolt, balancer('chat', 'tcp'))
    const dead = await oneHolder(chat)
    const survivor = other(dead)
    const held = await holdSome(client, chat, 24)
    const entries = async (): Promise<number> => {
      const counts = domainNamespaces(system.lab, survivor).map(async (namespace) => {
        const { stdout } = await run(['ip', 'netns', 'exec', namespace, 'conntrack', '-L', '-p', 'tcp'])
        return stdout.split('\n').filter((line) => line.includes(`dst=${vipOf(chat)} `)).length
      })
      return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
    }
    await waitFor(async () => (await entries()) >= held.length, { what: `${survivor} to know the flows` })
    await powerOff(system.lab, dead)
    await expectAlive(held)
    await powerOn(system.lab, system.access, dead)
    await bothReport()
    await expectAlive(held)
    await dropAll(held)
    await system.api(bolt, 'DELETE', `/load-balancers/${chat.id}`)
  })

  it('that is cut off and comes back leaves one owner, and connections go on', async () => {
    const { lab } = system
    const cut = await ownerOf(shop)
    const held = await holdSome(client, shop, 8)
    for (const link of ['fab0', 'mgmt0', 'seg-a', 'seg-b']) await lab.cable(cut, link, 'cut')
    await ownedBy(shop, other(cut))
    await expectAlive(held)
    for (const link of ['fab0', 'mgmt0', 'seg-a', 'seg-b']) await lab.cable(cut, link, 'mended')
    await bothReport()
    expect(await oneHolder(shop)).toBe(other(cut))
    await expectAlive(held)
    recordFault({
      fault: 'node: every cable cut and mended',
      outcome: 'one owner again, flows go on',
      figure: `${await withoutOwner()}, 0 of ${held.length} flows lost`,
    })
    await dropAll(held)
  })

  it('whose keepalived is killed hands over and takes part again', async () => {
    const owner = await ownerOf(shop)
    const held = await holdSome(client, shop, 8)
    for (const { pid } of await daemonsOf(system.lab, owner, ELECTION)) process.kill(pid, 'SIGKILL')
    await ownedBy(shop, other(owner))
    await expectAlive(held)
    await waitFor(async () => (await daemonsOf(system.lab, owner, ELECTION)).length >= 2, {
      what: `the election to run on ${owner} again`,
    })
    expect(await oneHolder(shop)).toBe(other(owner))
    recordFault({
      fault: 'node: keepalived and mover killed',
      outcome: 'the other node takes over; it takes part again',
      figure: `${await withoutOwner()}, 0 of ${held.length} flows lost`,
    })
    await dropAll(held)
  })

  it('fails over while no agent and no control plane runs', async () => {
    const { lab } = system
    const owner = await ownerOf(shop)
    const held = await holdSome(client, shop, 8)
    for (const node of NODES) await lab.stop(agentOf(lab, node), 'SIGKILL')
    const controlPlane = lab.process('control-plane')
    if (controlPlane === null) throw new Error('no control plane runs')
    await lab.stop(controlPlane, 'SIGKILL')
    await powerOff(lab, owner)
    await waitFor(async () => (await holdersOf(shop)).includes(other(owner)), { what: `${other(owner)} to take over` })
    await expectAlive(held)
    await startControlPlane(lab, { port: Number(new URL(system.access.endpoint).port), set: SET })
    await powerOn(lab, system.access, other(owner))
    await powerOn(lab, system.access, owner)
    await bothReport()
    await expectAlive(held)
    await ownedBy(shop, other(owner))
    recordFault({
      fault: 'node: power lost, no agent, no control plane',
      outcome: 'the other node takes over all the same',
      figure: `0 of ${held.length} flows lost`,
    })
    await dropAll(held)
  })

  it('that is frozen gives way when it wakes up', async () => {
    const { lab } = system
    const frozen = await ownerOf(shop)
    const heir = other(frozen)
    const stopped = [agentOf(lab, frozen), ...(await daemonsOf(lab, frozen, ELECTION))]
    for (const { pid } of stopped) process.kill(pid, 'SIGSTOP')
    try {
      await waitFor(async () => (await holdersOf(shop)).includes(heir), { what: `${heir} to take over` })
      // Longer than a stall that an election cannot tell from a busy moment.
      await waitFor(async () => (await system.nodeNamed(frozen)).status.connection === 'disconnected', {
        what: `${frozen} to be missed`,
      })
    } finally {
      for (const { pid } of stopped) process.kill(pid, 'SIGCONT')
    }
    await waitFor(async () => (await holdersOf(shop)).length === 1, { what: 'one holder' })
    await bothReport()
    await ownedBy(shop, heir)
    await answers(blog)
  })

  it('whose daemons end with its agent hands over before', async () => {
    const { lab, access } = system
    const owner = await ownerOf(shop)
    await lab.stop(agentOf(lab, owner))
    await startAgent(lab, access, owner, { set: ['daemonsEndWithAgent=true'] })
    await bothReport()
    expect(await holdersOf(shop)).toEqual([owner])
    const held = await holdSome(client, shop, 8)
    await lab.stop(agentOf(lab, owner))
    // Its keepalived has not ended here, so nothing but the agent moved the address.
    await waitFor(async () => (await holdersOf(shop)).join() === other(owner), { what: `${other(owner)} to take over` })
    await expectAlive(held)
    await startAgent(lab, access, owner)
    await dropAll(held)
  })

  it('that is drained hands over, breaks no connection, and takes nothing back', async () => {
    const owner = await ownerOf(blog)
    const held = await holdSome(client, shop, 8)
    const traffic = requests()
    await schedule(system, owner, 'draining')
    await ownedBy(blog, other(owner))
    await ownedBy(shop, other(owner))
    expect(failuresOf(await traffic.stop())).toEqual([])
    await expectAlive(held)
    await schedule(system, owner, 'enabled')
    await ownedBy(blog, other(owner))
    await dropAll(held)
  })
})

describe('UDP', () => {
  it('goes on through the next owner', async () => {
    const { id } = await system.createLoadBalancer(acme, balancer('dns', 'udp', { port: 53, memberPort: PORT.udp }))
    const dns = await system.active(acme, id)
    const owner = await ownerOf(dns)
    const ask = () => client.udp(vipOf(dns), 53, 'who', { timeoutMs: 500 })
    await waitFor(async () => (await ask()).ok, { what: 'an answer over UDP' })
    await powerOff(system.lab, owner)
    await waitFor(async () => (await ask()).ok, { what: 'an answer through the other node' })
    await powerOn(system.lab, system.access, owner)
    await bothReport()
    await system.api(acme, 'DELETE', `/load-balancers/${id}`)
  })
})
