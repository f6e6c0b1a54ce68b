import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import {
  askOn,
  Caller,
  domainNamespaces,
  isAlive,
  msSince,
  must,
  nodesInSync,
  type Outcome,
  recordFault,
  type ShownLoadBalancer,
  startAgent,
  startControlPlane,
  startMember,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, quickCheck, tally, vipOf } from './fixtures.ts'
import { KernelWatch } from './kernel-watch.ts'
import { helperOf, proxiesOf } from './node-processes.ts'
import { failuresOf } from './traffic.ts'

const DISCONNECTED_AFTER = 'liveness.disconnectedAfterMs=1500'
/** Nothing moves because a process starts slowly on a busy machine. */
const PATIENT = ['nodes.announcer=l2', DISCONNECTED_AFTER, 'liveness.moveAfterMs=600000']
const QUICK = ['nodes.announcer=l2', DISCONNECTED_AFTER, 'liveness.moveAfterMs=4500']

let system: TestSystem
let client: Caller
let shop: ShownLoadBalancer
let blog: ShownLoadBalancer
let acme: Tenant
let bolt: Tenant

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], set: PATIENT })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  shop = await system.createLoadBalancer(
    acme,
    balancer('shop', 'tcp', { memberPort: 8080, pool: { monitor: quickCheck('tcp') } }),
  )
  blog = await system.createLoadBalancer(bolt, balancer('blog', 'http', { pool: { monitor: quickCheck('http') } }))
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const membersOf = (tenant: 'tenant-a' | 'tenant-b') => [`${tenant}-member1`, `${tenant}-member2`]

/** Waits until exactly these members answer, without a failure in 16 requests. */
const served = (shown: ShownLoadBalancer, members: readonly string[]) =>
  waitFor(
    async () => {
      const answers = await client.members(vipOf(shown), 16, { timeoutMs: 1000 })
      return [...tally(answers.map((answer) => answer?.member ?? '-').sort()).keys()].join() === members.join()
    },
    { what: `${members.join(' and ')} to answer at ${vipOf(shown)}`, timeoutMs: 30_000 },
  )

const bothServed = async (): Promise<void> => {
  await served(shop, membersOf('tenant-a'))
  await served(blog, membersOf('tenant-b'))
}

/** Requests to both load balancers, one after the other to each, until stopped. */
function steadyTraffic(): { stop(): Promise<void> } {
  const streams = [shop, blog].map((shown) => askOn(() => client.http(vipOf(shown))))
  return {
    stop: async () => {
      for (const stream of streams) expectAllAnswered(await stream.stop())
    },
  }
}

function expectAllAnswered(outcomes: readonly Outcome<{ readonly status: number }>[]): void {
  expect(outcomes.length).toBeGreaterThan(0)
  expect(failuresOf(outcomes)).toEqual([])
}

const healthOf = async (who: Tenant, shown: ShownLoadBalancer, member: string) => {
  const { pools, status } = await system.loadBalancer(who, shown.id)
  const id = pools[0]?.members.find(({ name }) => name === member)?.id ?? ''
  return status.members[id]
}

async function kill(name: string): Promise<void> {
  const target = system.lab.process(name)
  if (target === null) throw new Error(`${name} does not run`)
  await system.lab.stop(target, 'SIGKILL')
}

/** Restarts it on the same port. */
async function controlPlaneAgain(set: readonly string[]): Promise<void> {
  const port = Number(new URL(system.access.endpoint).port)
  await startControlPlane(system.lab, { port, set })
}

const ownerOf = async (who: Tenant, shown: ShownLoadBalancer): Promise<string> => {
  const { status } = await system.loadBalancer(who, shown.id)
  return (await system.nodes()).find(({ id }) => id === status.ownerNodeId)?.name ?? ''
}

/** A test that failed half-way leaves members dead: the next one still starts with all of them. */
async function startMissingMembers(): Promise<void> {
  for (const place of (['tenant-a', 'tenant-b'] as const).flatMap((tenant) => membersOf(tenant)))
    if (system.lab.process(`member-${place}`) === null) await startMember(system.lab, place)
}

beforeEach(async () => {
  await startMissingMembers()
  await bothServed()
  // What a node has yet to apply would look like a change.
  await nodesInSync(system.access, 2)
})

describe('a member that is killed', () => {
  it.each([
    { who: () => acme, shown: () => shop, tenant: 'tenant-a', kind: 'tcp' },
    { who: () => bolt, shown: () => blog, tenant: 'tenant-b', kind: 'http' },
  ] as const)('leaves rotation and returns ($kind)', async ({ who, shown, tenant }) => {
    await kill(`member-${tenant}-member1`)
    await served(shown(), [`${tenant}-member2`])
    await waitFor(async () => (await healthOf(who(), shown(), 'member1'))?.health === 'down', {
      what: 'the user to be told',
    })
    // Reset, if a probe was in progress when it died.
    const reason = expect.stringMatching(/^connection (refused|reset)$/)
    expect(await healthOf(who(), shown(), 'member1')).toMatchObject({ reason })
    expect(await healthOf(who(), shown(), 'member2')).toMatchObject({ health: 'up', reason: null })
    await startMember(system.lab, `${tenant}-member1`)
    await served(shown(), membersOf(tenant))
    await waitFor(async () => (await healthOf(who(), shown(), 'member1'))?.health === 'up', {
      what: 'the user to be told',
    })
  })
})

describe('HAProxy killed', () => {
  it('comes back with the state of its members', async () => {
    const owner = await ownerOf(bolt, blog)
    await kill('member-tenant-b-member1')
    await served(blog, ['tenant-b-member2'])
    const killed = await proxiesOf(system.lab, owner)
    expect(killed).toHaveLength(1)
    for (const { pid } of killed) process.kill(pid, 'SIGKILL')
    await waitFor(async () => !killed.some(isAlive) && (await client.http(vipOf(blog))).ok, { what: 'an answer' })
    // HAProxy answers a moment before the process that started it ends.
    const started = await waitFor(
      async () => {
        const running = await proxiesOf(system.lab, owner)
        return running.length === 1 && running
      },
      { what: 'one proxy' },
    )
    const answers = await client.members(vipOf(blog), 16)
    // A member that is down stays out: no request has to find out again.
    expect(tally(answers.map((answer) => answer?.member))).toEqual(new Map([['tenant-b-member2', 16]]))
    await startMember(system.lab, 'tenant-b-member1')
    await bothServed()
    // Still the same process: nothing needed a reload.
    expect(await proxiesOf(system.lab, owner)).toEqual(started)
  })
})

describe('the native helper killed', () => {
  it('is started again, the whole state is compared, and traffic goes on', async () => {
    const owner = await ownerOf(acme, shop)
    const traffic = steadyTraffic()
    const helper = helperOf(system.lab, owner)
    expect(helper).not.toBeNull()
    await system.lab.stop(helper!, 'SIGKILL')
    // The dead one stays a child of the agent until that has noticed its end.
    const isNew = () => ![undefined, helper!.pid].includes(helperOf(system.lab, owner)?.pid)
    await waitFor(isNew, { what: 'a new helper' })
    await traffic.stop()
    const changed = await system.createLoadBalancer(acme, balancer('after-helper', 'tcp', { memberPort: 8080 }))
    await served(changed, membersOf('tenant-a'))
    await system.api(acme, 'DELETE', `/load-balancers/${changed.id}?cascade=true`)
  })

  it('what was lost meanwhile is put back', async () => {
    const owner = await ownerOf(acme, shop)
    const helper = helperOf(system.lab, owner)
    await system.lab.stop(helper!, 'SIGKILL')
    const inside = (namespace: string) => ['ip', 'netns', 'exec', namespace, 'nft'] as const
    const tablesIn = async (namespace: string) =>
      (await must([...inside(namespace), 'list', 'tables'])).split('\n').filter(Boolean).sort()
    const before = new Map<string, readonly string[]>()
    for (const namespace of domainNamespaces(system.lab, owner)) {
      const tables = await tablesIn(namespace)
      before.set(namespace, tables)
      const served = tables.filter((table) => !table.includes('guard'))
      expect(served).not.toEqual([])
      for (const table of served) await must([...inside(namespace), `delete ${table}`])
    }
    await must(['ip', '-n', system.lab.namespace(owner), 'addr', 'flush', 'dev', 'fab0', 'to', `${vipOf(shop)}/32`])
    await waitFor(async () => (await system.boundAddresses(owner)).includes(vipOf(shop)), {
      what: 'the address to be back',
    })
    for (const [namespace, tables] of before)
      await waitFor(async () => (await tablesIn(namespace)).join() === tables.join(), {
        what: `tables of ${namespace}`,
      })
    await bothServed()
  })
})

describe('the agent killed', () => {
  it('changes nothing when it is started again with the same state, and traffic never stops', async () => {
    const owner = await ownerOf(acme, shop)
    const traffic = steadyTraffic()
    const proxies = await proxiesOf(system.lab, owner)
    const watch = await KernelWatch.start(system.lab, 'agent-returns')
    await kill(`agent-${owner}`)
    const startedAt = Date.now()
    await startAgent(system.lab, system.access, owner)
    await system.inSyncAfter(owner, startedAt)
    await Promise.all([system.active(acme, shop.id), system.active(bolt, blog.id)])
    expect(await watch.stop()).toEqual([])
    expect(await proxiesOf(system.lab, owner)).toEqual(proxies)
    await traffic.stop()
  })

  it('follows what was changed while it was away', async () => {
    const owner = await ownerOf(acme, shop)
    const gone = await system.createLoadBalancer(acme, balancer('gone', 'tcp', { memberPort: 8080 }))
    await kill(`agent-${owner}`)
    const watch = await KernelWatch.start(system.lab, 'agent-follows')
    await system.api(acme, 'DELETE', `/load-balancers/${gone.id}?cascade=true`)
    const { id } = await system.api<ShownLoadBalancer>(acme, 'POST', '/load-balancers', {
      vips: [{ from: 'pool', poolId: system.publicPoolId }],
      ...balancer('come', 'tcp', { memberPort: 8080 }),
    })
    expect((await system.loadBalancer(acme, id)).status.provisioning).toBe('pending')
    await startAgent(system.lab, system.access, owner)
    const come = await system.active(acme, id)
    expect((await watch.stop()).join('\n')).toContain(vipOf(come))
    await served(come, membersOf('tenant-a'))
    await waitFor(async () => !(await client.http(vipOf(gone), 80, { timeoutMs: 500 })).ok, {
      what: 'what was deleted to answer no more',
    })
    await waitFor(async () => !(await system.boundAddresses(owner)).includes(vipOf(gone)), {
      what: 'its address to be let go',
    })
    await system.api(acme, 'DELETE', `/load-balancers/${id}?cascade=true`)
  })
})

describe('the control plane killed', () => {
  it('forwarding and health go on without it, and its return changes nothing on the nodes', async () => {
    const traffic = steadyTraffic()
    const watch = await KernelWatch.start(system.lab, 'control-plane-returns')
    await kill('control-plane')
    await controlPlaneAgain(PATIENT)
    await waitFor(
      async () => (await system.nodes()).every(({ status }) => status.connection === 'connected' && status.inSync),
      {
        what: 'both nodes to report again',
      },
    )
    await Promise.all([system.active(acme, shop.id), system.active(bolt, blog.id)])
    expect(await watch.stop()).toEqual([])
    await traffic.stop()
  })

  it('members leave rotation while it is away', async () => {
    await kill('control-plane')
    await kill('member-tenant-a-member2')
    await served(shop, ['tenant-a-member1'])
    await controlPlaneAgain(PATIENT)
    await waitFor(async () => (await healthOf(acme, shop, 'member2'))?.health === 'down', {
      what: 'the user to be told',
    })
    await startMember(system.lab, 'tenant-a-member2')
    await bothServed()
  })
})

/** Counters restart with the state file. */
const isCount = (line: string): boolean => line.includes(' counter packets ')
/** Emptied and refilled in a second transaction. Meanwhile packets take the rules behind it. */
const isIngressSteering = (line: string): boolean => / element netdev spout-\S+ (link|via)[46] /.test(line)

describe('a node whose state file is lost', () => {
  it('takes over what is there from the control plane and wipes nothing', async () => {
    const owner = await ownerOf(acme, shop)
    await kill(`agent-${owner}`)
    rmSync(`${system.lab.directory}/${owner}/entries.journal`)
    const watch = await KernelWatch.start(system.lab, 'state-file-lost')
    const traffic = steadyTraffic()
    const startedAt = Date.now()
    await startAgent(system.lab, system.access, owner)
    await system.inSyncAfter(owner, startedAt)
    await system.active(acme, shop.id)
    await bothServed()
    await traffic.stop()
    const losses = await watch.stopAndTellLosses()
    expect(losses.filter((line) => !isCount(line) && !isIngressSteering(line))).toEqual([])
  })
})

describe('a node that stops reporting', () => {
  beforeAll(async () => {
    await kill('control-plane')
    await controlPlaneAgain(QUICK)
    await nodesInSync(system.access, 2)
  })

  /** Where an address is bound, at each look. */
  const holdersOf = async (shown: ShownLoadBalancer): Promise<readonly string[]> => {
    const holders: string[] = []
    for (const name of ['node1', 'node2'])
      if ((await system.boundAddresses(name)).includes(vipOf(shown))) holders.push(name)
    return holders
  }

  it('because it lost the control plane alone is shown so, keeps its addresses and goes on', async () => {
    const { lab } = system
    const silent = await ownerOf(acme, shop)
    const before = await Promise.all([holdersOf(shop), holdersOf(blog)])
    const traffic = steadyTraffic()
    const began = performance.now()
    await lab.cable(silent, 'mgmt0', 'cut')
    try {
      await waitFor(async () => (await system.nodeNamed(silent)).status.connection === 'disconnected', {
        what: `${silent} to be shown as disconnected`,
      })
      // Twice the time after which its addresses moved when silence alone was enough.
      await waitFor(
        async () => {
          expect(await Promise.all([holdersOf(shop), holdersOf(blog)])).toEqual(before)
          return performance.now() - began > 2 * 4500
        },
        { what: 'the time to pass', everyMs: 200, timeoutMs: 20_000 },
      )
      expect(await ownerOf(acme, shop)).toBe(silent)
    } finally {
      await lab.cable(silent, 'mgmt0', 'mended')
    }
    await nodesInSync(system.access, 2)
    expect(await Promise.all([holdersOf(shop), holdersOf(blog)])).toEqual(before)
    await traffic.stop()
    recordFault({
      fault: 'l2: node cut off from the control plane alone',
      outcome: 'shown as disconnected; it keeps its addresses and goes on',
      figure: `0 moves in ${Math.round((performance.now() - began) / 1000)} s, 0 requests failed, never two owners`,
    })
  })

  /** Starts another control plane on the same store, which must end; what it says to its operator. */
  const startSecond = (): Promise<string> =>
    startControlPlane(system.lab, { set: QUICK }).then(
      () => 'it came up',
      (error: Error) => error.message,
    )

  /** How often a control plane of this lab has opened its ports. */
  const timesListening = (): number =>
    readFileSync(path.join(system.lab.directory, 'control-plane.log'), 'utf8').split('"event":"listening"').length - 1

  it('because the control plane stood still loses nothing, and a second one beside it is refused', async () => {
    const controlPlane = system.lab.process('control-plane')
    if (controlPlane === null) throw new Error('no control plane runs')
    const { pid } = controlPlane
    const before = [await ownerOf(acme, shop), await ownerOf(bolt, blog)]
    const addresses = await Promise.all([holdersOf(shop), holdersOf(blog)])
    expect(addresses.map(({ length }) => length)).toEqual([1, 1])
    const opened = timesListening()
    const said = [await startSecond()]
    const traffic = steadyTraffic()
    const began = performance.now()
    let asked: Promise<unknown>
    process.kill(pid, 'SIGSTOP')
    try {
      const change = { description: 'asked meanwhile' }
      asked = system.api(acme, 'PATCH', `/load-balancers/${shop.id}`, change).catch((error: Error) => error)
      said.push(await startSecond())
      await waitFor(
        async () => {
          expect(await Promise.all([holdersOf(shop), holdersOf(blog)])).toEqual(addresses)
          return performance.now() - began > 2 * 4500
        },
        { what: 'the time to pass', everyMs: 200, timeoutMs: 20_000 },
      )
      said.push(await startSecond())
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    const stoodStillMs = performance.now() - began
    const wentOnAt = Date.now()
    for (const name of ['node1', 'node2']) await system.inSyncAfter(name, wentOnAt)
    // It still has the store: what it was asked meanwhile it writes, and nobody else wrote.
    expect(await asked).toMatchObject({ id: shop.id, description: 'asked meanwhile' })
    expect(await system.loadBalancer(acme, shop.id)).toMatchObject({ description: 'asked meanwhile' })
    expect([await ownerOf(acme, shop), await ownerOf(bolt, blog)]).toEqual(before)
    expect(await Promise.all([holdersOf(shop), holdersOf(blog)])).toEqual(addresses)
    await traffic.stop()
    for (const words of said) {
      expect(words).toContain(`spout.db is in use by process ${pid}: end that one first (kill ${pid}; `)
      // One sentence for its operator, no stack.
      expect(words).not.toMatch(/\n\s+at /)
    }
    expect(timesListening()).toBe(opened)
    recordFault({
      fault: 'control plane: another one is started on its store, while it runs and while it stands still (F8)',
      outcome: 'refused with the process that has the store and what to do; agents never see it',
      figure: `0 of ${said.length} started, 0 ports opened, what the first was asked meanwhile is written, never two owners`,
    })
    recordFault({
      fault: 'control plane stopped and continued',
      outcome: 'nobody is lost by its own standstill',
      figure: `0 moves after ${Math.round(stoodStillMs / 1000)} s, 0 requests failed`,
    })
  })

  it('its addresses come to the other node when the machine is gone for good', async () => {
    const { lab } = system
    const silent = await ownerOf(acme, shop)
    const other = silent === 'node1' ? 'node2' : 'node1'
    const began = performance.now()
    await lab.cable(silent, 'fab0', 'cut')
    await lab.cable(silent, 'mgmt0', 'cut')
    for (const tenant of ['a', 'b']) await lab.cable(silent, `seg-${tenant}`, 'cut')
    await waitFor(async () => (await ownerOf(acme, shop)) === other, { what: `the addresses to move to ${other}` })
    recordFault({
      fault: 'l2: node gone for good',
      outcome: 'nobody hears it: its addresses move',
      figure: `planned elsewhere after ${msSince(began)}, of which 4500 ms are liveness.moveAfterMs`,
    })
    await bothServed()
    for (const link of ['fab0', 'mgmt0', 'seg-a', 'seg-b']) await lab.cable(silent, link, 'mended')
    await waitFor(async () => !(await system.boundAddresses(silent)).includes(vipOf(shop)), {
      what: `${silent} to give way`,
    })
    await bothServed()
    expect(await system.boundAddresses(other)).toContain(vipOf(shop))
  })
})
