import {
  Caller,
  msSince,
  nodesInSync,
  recordFault,
  type ShownLoadBalancer,
  startAgent,
  startControlPlane,
  type Tenant,
  TestSystem,
  WallClock,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bothTakePart, shownVip } from './announcing-group.ts'
import { ACME, BOLT, balancer, vipOf } from './fixtures.ts'
import { agentOf } from './node-processes.ts'
import { dropAll, expectAlive, holdSome } from './traffic.ts'

const SET = ['nodes.announcer=vrrp', 'liveness.disconnectedAfterMs=3000', 'liveness.moveAfterMs=600000']
const NODES = ['node1', 'node2'] as const
const HOUR_MS = 3_600_000
const FORGED = '02:00:00:00:00:99'

let system: TestSystem
let client: Caller
let acme: Tenant
let bolt: Tenant
let shop: ShownLoadBalancer
/** A second claim within 10 s is not answered (RFC 5227 section 2.4). */
const DEFENDED_AGAIN_MS = 11_000

/** The clock of node1's agent, and later of the control plane. */
let clock: WallClock

beforeAll(async () => {
  clock = await WallClock.create()
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: SET })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  // Tests share the machine with others: a stall is not what is tested here.
  await changeGroup({ vrrp: { profile: 'relaxed' } })
  shop = await system.createLoadBalancer(acme, balancer('shop', 'tcp'))
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
  clock?.[Symbol.dispose]()
})

beforeEach(async () => {
  await nodesInSync(system.access, 2)
  await bothTakePart(system)
})

const asAdmin = <T>(method: string, at: string, body?: unknown): Promise<T> =>
  system.api<T>(system.access.admin, method, at, body)

const changeGroup = async (change: object): Promise<void> => {
  const [group] = (await asAdmin<{ items: { id: string }[] }>('GET', '/node-groups')).items
  await asAdmin('PATCH', `/node-groups/${group?.id}`, change)
}

interface Shard {
  readonly number: number
  readonly state: string
  readonly takeovers: number
}
interface Node {
  readonly name: string
  readonly status: {
    readonly shards: readonly Shard[]
    readonly problems: readonly { readonly code: string; readonly message: string }[]
  }
}

const nodes = async (): Promise<readonly Node[]> => (await asAdmin<{ items: Node[] }>('GET', '/nodes')).items

/** How often nodes became master of a shard since their agents' sessions began, in total. */
const takeovers = async (): Promise<number> =>
  (await nodes()).flatMap(({ status }) => status.shards).reduce((sum, shard) => sum + shard.takeovers, 0)

/** The roles according to kernels and nodes: an equal text means that nothing moved. */
const owners = async (): Promise<string> =>
  JSON.stringify(await Promise.all((await nodes()).map(async ({ name }) => [name, await system.boundAddresses(name)])))

const refusal = async (call: Promise<unknown>): Promise<string> => {
  const error = await call.then(
    () => null,
    (reason: Error) => reason,
  )
  if (error === null) throw new Error('it was not refused')
  return error.message
}

describe('overlapping names of the group', () => {
  it('are refused naming the field, and nothing of them is stored', async () => {
    const { items } = await asAdmin<{ items: { id: string; vrrp: { routerIds: number[] } }[] }>('GET', '/node-groups')
    const taken = items[0]?.vrrp.routerIds[0]
    const began = performance.now()
    expect(
      await refusal(asAdmin('POST', '/node-groups', { name: 'b', vrrp: { shards: 1, routerIds: [taken] } })),
    ).toMatch(/routerIds/)
    recordFault({
      fault: 'group: router id of another group',
      outcome: 'refused naming the field',
      figure: `reason after ${msSince(began)}, 0 moves`,
    })
    const peer = { name: 'one', address: '198.51.100.1', as: 64_513 }
    const { id } = await asAdmin<{ id: string }>('POST', '/bgp-peers', peer)
    const againMs = performance.now()
    expect(await refusal(asAdmin('POST', '/bgp-peers', { ...peer, name: 'two' }))).toMatch(/address/)
    recordFault({
      fault: 'group: the same BGP peer twice',
      outcome: 'refused naming the field',
      figure: `reason after ${msSince(againMs)}`,
    })
    await asAdmin('DELETE', `/bgp-peers/${id}`)
    expect((await asAdmin<{ items: unknown[] }>('GET', '/node-groups')).items).toHaveLength(items.length)
  })
})

describe('30 % loss on the links to the control plane', () => {
  const loss = (['input', 'output'] as const).flatMap((hook) => [
    `chain ${hook} {`,
    `  type filter hook ${hook} priority -300`,
    `  ${hook === 'input' ? 'iifname' : 'oifname'} "mgmt0" numgen random mod 100 < 30 drop`,
    '}',
  ])
  const table = ['table inet faults {', ...loss, '}', ''].join('\n')

  it('moves nothing, breaks nothing, and changes still arrive', async () => {
    const { lab } = system
    const before = await owners()
    const moves = await takeovers()
    const held = await holdSome(client, shop, 24)
    for (const node of NODES) await lab.must(node, ['nft', '-f', '-'], { input: table })
    try {
      const times: number[] = []
      for (let change = 0; change < 3; change++) {
        const began = performance.now()
        const vips = [{ from: 'pool', poolId: system.publicPoolId }]
        const body = { vips, ...balancer(`lossy${change}`, 'tcp') }
        const { id } = await system.api<ShownLoadBalancer>(bolt, 'POST', '/load-balancers', body)
        await waitFor(async () => (await system.loadBalancer(bolt, id)).status.provisioning === 'active', {
          what: 'a change to arrive',
          // Half of all round trips fail, and TCP waits longer each time.
          timeoutMs: 90_000,
        })
        times.push(performance.now() - began)
        await system.api(bolt, 'DELETE', `/load-balancers/${id}`)
      }
      await expectAlive(held)
      recordFault({
        fault: 'control link: 30 % loss',
        outcome: 'nothing moves, no flow breaks, changes arrive',
        figure: `${(await takeovers()) - moves} moves, 0 of ${held.length} flows lost, a change took at most ${Math.round(Math.max(...times))} ms`,
      })
    } finally {
      for (const node of NODES) await lab.must(node, ['nft', 'delete', 'table', 'inet', 'faults'])
    }
    await nodesInSync(system.access, 2)
    expect(await takeovers()).toBe(moves)
    await waitFor(async () => (await owners()) === before, { what: 'the addresses to be where they were' })
    await dropAll(held)
  })
})

describe('a wall clock that jumps', () => {
  it('on a node, moves nothing and breaks nothing', async () => {
    const { lab } = system
    await lab.stop(agentOf(lab, 'node1'), 'SIGTERM')
    await startAgent(lab, system.access, 'node1', { env: clock.env })
    await nodesInSync(system.access, 2)
    const before = await owners()
    const moves = await takeovers()
    const held = await holdSome(client, shop, 24)
    const links: string[] = []
    const jumps = [HOUR_MS, -HOUR_MS, 24 * HOUR_MS, 0]
    for (const aheadMs of jumps) {
      clock.set(aheadMs)
      const began = Date.now()
      await expectAlive(held)
      // It still applies changes, and its reports still arrive.
      const made = await system.createLoadBalancer(bolt, balancer('jump', 'tcp'))
      await system.inSyncAfter('node1', began)
      await system.api(bolt, 'DELETE', `/load-balancers/${made.id}`)
      links.push((await system.nodeNamed('node1')).status.connection)
    }
    expect(links).toEqual(jumps.map(() => 'connected'))
    expect(await takeovers()).toBe(moves)
    await waitFor(async () => (await owners()) === before, { what: 'the addresses to be where they were' })
    await expectAlive(held)
    await dropAll(held)
    recordFault({
      fault: "node: the agent's clock jumps",
      outcome: 'nothing moves, no flow breaks, it stays connected',
      figure: `0 moves, 0 of ${held.length} flows lost in ${jumps.length} jumps`,
    })
    await lab.stop(agentOf(lab, 'node1'), 'SIGTERM')
    await startAgent(lab, system.access, 'node1')
  })

  it('is behind when the agent starts: what it had is kept, and it connects once the clock is right', async () => {
    const { lab } = system
    const moves = await takeovers()
    const held = await holdSome(client, shop, 24)
    await lab.stop(agentOf(lab, 'node1'), 'SIGKILL')
    clock.set(-HOUR_MS)
    const { logFile } = await startAgent(lab, system.access, 'node1', { env: clock.env })
    // The server's certificate is from the future.
    const said = async () => (await lab.must('host', ['cat', logFile])).includes('CERT_NOT_YET_VALID')
    await waitFor(said, { what: 'the agent to say why it does not connect' })
    await expectAlive(held)
    const began = performance.now()
    clock.set(0)
    await system.inSyncAfter('node1', Date.now())
    const back = msSince(began)
    await bothTakePart(system)
    expect(await takeovers()).toBe(moves)
    await expectAlive(held)
    await dropAll(held)
    recordFault({
      fault: 'node: clock is behind when the agent starts',
      outcome: 'what it had is kept; the log says why it does not connect',
      figure: `0 moves, 0 of ${held.length} flows lost, connected ${back} after the clock was right`,
    })
    await lab.stop(agentOf(lab, 'node1'), 'SIGTERM')
    await startAgent(lab, system.access, 'node1')
  })

  it('on the control plane, moves nothing and disconnects nobody', async () => {
    const { lab } = system
    const restart = async (env: Readonly<Record<string, string>>) => {
      const running = lab.process('control-plane')
      if (running !== null) await lab.stop(running, 'SIGTERM')
      await startControlPlane(lab, { port: Number(new URL(system.access.endpoint).port), set: SET, env })
      await nodesInSync(system.access, 2)
    }
    await restart(clock.env)
    await bothTakePart(system)
    const before = await owners()
    const moves = await takeovers()
    const held = await holdSome(client, shop, 24)
    const jumps = [HOUR_MS, -HOUR_MS, 0]
    for (const aheadMs of jumps) {
      clock.set(aheadMs)
      // Twice, so that every node has reported meanwhile.
      for (let count = 0; count < 2; count++) {
        const made = await system.createLoadBalancer(bolt, balancer('jump', 'tcp'))
        await system.api(bolt, 'DELETE', `/load-balancers/${made.id}`)
      }
      for (const node of await system.nodes()) expect(node.status.connection).toBe('connected')
      await expectAlive(held)
    }
    expect(await takeovers()).toBe(moves)
    await waitFor(async () => (await owners()) === before, { what: 'the addresses to be where they were' })
    await dropAll(held)
    recordFault({
      fault: 'control plane: clock jumps',
      outcome: 'nothing moves, every node stays connected',
      figure: `0 moves, 0 of ${held.length} flows lost in ${jumps.length} jumps`,
    })
    await restart({})
  })
})

describe('a link that flaps', () => {
  it('moves a shard away once, and flows go on', async () => {
    const { lab } = system
    const flaps = 5
    const owner = await waitFor(async () => (await shownVip(system, shop)).owners[0], { what: 'an owner' })
    const heir = owner === 'node1' ? 'node2' : 'node1'
    const held = await holdSome(client, shop, 24)
    const shardsOf = async (name: string) => (await nodes()).find((node) => node.name === name)?.status.shards ?? []
    const takenBy = async (name: string) => (await shardsOf(name)).reduce((sum, shard) => sum + shard.takeovers, 0)
    const before = await takenBy(heir)
    const lost = (await shardsOf(owner)).filter(({ state }) => state === 'master').length
    for (let flap = 0; flap < flaps; flap++) {
      await lab.cable(owner, 'fab0', 'cut')
      await waitFor(async () => (await shardsOf(owner)).every(({ state }) => state === 'fault'), {
        what: `${owner} to say that its link is gone`,
      })
      await waitFor(async () => (await system.boundAddresses(heir)).includes(vipOf(shop)), {
        what: `${heir} to own it`,
      })
      await waitFor(async () => !(await system.boundAddresses(owner)).includes(vipOf(shop)), {
        what: `${owner} to let go`,
      })
      await lab.cable(owner, 'fab0', 'mended')
      await bothTakePart(system)
    }
    await expectAlive(held)
    await dropAll(held)
    await expect.poll(() => takenBy(heir), { timeout: 10_000 }).toBe(before + lost)
    recordFault({
      fault: 'node: fabric link flaps',
      outcome: 'its shards move away once, flows go on',
      figure: `1 move a shard in ${flaps} flaps, 0 of ${held.length} flows lost`,
    })
  })
})

describe('an address that somebody else on the fabric claims', () => {
  it('is defended, and the node says who claims it', async () => {
    const { lab } = system
    await changeGroup({ announcer: 'l2' })
    const address = vipOf(shop)
    const owner = await waitFor(
      async () => {
        const shown = await shownVip(system, shop)
        return shown.announcer === 'l2' && shown.state === 'announced' && shown.owners.length === 1 && shown.owners[0]
      },
      { what: 'one owner by l2' },
    )
    const told = async () =>
      (await nodes())
        .find(({ name }) => name === owner)
        ?.status.problems.filter(({ code }) => code === 'AddressClaimed') ?? []
    await waitFor(async () => (await client.tcp(address, 80)).ok, { what: 'an answer' })
    const began = performance.now()
    const claimer = new URL('../packages/sys/src/testing/claimer.py', import.meta.url).pathname
    const by = owner === 'node1' ? 'node2' : 'node1'
    await waitFor(
      async () => {
        // The group has just changed its announcer: the node may not have applied that yet.
        await lab.must(by, ['python3', claimer, 'fab0', 'arp-request', address, FORGED])
        const says = waitFor(async () => (await told()).length > 0, { what: 'it', timeoutMs: DEFENDED_AGAIN_MS })
        return says.catch(() => null)
      },
      { what: 'the node to say so', timeoutMs: 60_000 },
    )
    const after = msSince(began)
    expect((await told())[0]?.message).toContain(`${address} is claimed by ${FORGED} too`)
    const shown = await lab.must('router', ['ip', '-j', 'neigh', 'show', 'to', address])
    expect(shown).not.toContain(FORGED)
    expect(await client.tcp(address, 80)).toMatchObject({ ok: true })
    recordFault({
      fault: 'l2: address claimed on the fabric',
      outcome: 'defended at once, the node names the MAC',
      figure: `on the node's object after ${after}`,
    })
    await changeGroup({ announcer: 'vrrp' })
    await bothTakePart(system)
  })
})

describe('a fabric interface that is gone', () => {
  it('is a reason on the node; its shards move, and it takes part again once it is there', async () => {
    const { lab } = system
    const owner = await waitFor(async () => (await shownVip(system, shop)).owners[0], { what: 'an owner' })
    const heir = owner === 'node1' ? 'node2' : 'node1'
    const route = (await lab.must(owner, ['ip', '-4', 'route', 'show', 'default'])).trim().split(/\s+/)
    const rename = async (from: string, to: string) => {
      await lab.must(owner, ['ip', 'link', 'set', 'dev', from, 'down'])
      await lab.must(owner, ['ip', 'link', 'set', 'dev', from, 'name', to])
      await lab.must(owner, ['ip', 'link', 'set', 'dev', to, 'up'])
    }
    const began = performance.now()
    await rename('fab0', 'gone0')
    const problem = await waitFor(
      async () =>
        (await nodes())
          .find(({ name }) => name === owner)
          ?.status.problems.find(({ code }) => code === 'FabricAddressLost'),
      { what: 'the reason on the node' },
    )
    const told = msSince(began)
    await waitFor(async () => (await system.boundAddresses(heir)).includes(vipOf(shop)), {
      what: `${heir} to take over`,
    })
    await waitFor(async () => (await client.tcp(vipOf(shop), 80)).ok, { what: 'an answer' })
    await rename('gone0', 'fab0')
    await lab.must(owner, ['ip', 'route', 'replace', ...route])
    await bothTakePart(system)
    recordFault({
      fault: 'node: fabric interface missing',
      outcome: `its shards move, the node says ${problem.code}`,
      figure: `reason after ${told}`,
    })
  })
})
