import { readFileSync } from 'node:fs'
import { release } from 'node:os'
import path from 'node:path'
import {
  askOn,
  BURST_PROGRAM,
  Caller,
  recordFault,
  type ShownLoadBalancer,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, CLIENT, vipOf } from './fixtures.ts'
import { processorSeconds, proxiesOf } from './node-processes.ts'
import { failuresOf } from './traffic.ts'

/** Share of one processor. */
const PROCESSORS = 0.1
const METRICS = '127.0.0.1:9132'
const CONNECTIONS = 100
const SET = [
  'shares.newFlowsPerProcessor=2000',
  `haproxy.processors=${PROCESSORS}`,
  `haproxy.maxConnections=${CONNECTIONS}`,
  // The lab has only one client, which may use all connections.
  'haproxy.sourceShare=1',
  `metrics.listen=${METRICS}`,
]
const CROWD = 32

let system: TestSystem
let client: Caller
let crowd: Caller
let acme: Tenant
let bolt: Tenant
/** The greedy tenant's: `shop` is balanced in the kernel, `site` by its proxy. */
let shop: ShownLoadBalancer
let site: ShownLoadBalancer
/** The neighbour's. */
let blog: ShownLoadBalancer

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: ['node1'], agents: { set: SET } })
  ;[acme, bolt] = system.tenants as [Tenant, Tenant]
  site = await system.createLoadBalancer(acme, balancer('site', 'http'))
  const [proxy] = await proxiesOf(system.lab, 'node1')
  greedyGroup = groupOf(proxy!.pid)
  shop = await system.createLoadBalancer(acme, balancer('shop', 'tcp'))
  blog = await system.createLoadBalancer(bolt, balancer('blog', 'http'))
  client = await Caller.start(system.lab, 'client')
  crowd = await Caller.start(system.lab, 'client')
  for (const shown of [site, blog])
    await waitFor(async () => (await client.http(vipOf(shown))).ok, { what: `${vipOf(shown)} to answer` })
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await crowd?.[Symbol.asyncDispose]()
  await system?.destroy()
})

let greedyGroup: string

/** The directory of a process's control group, of either version. */
function groupOf(pid: number): string {
  const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').split('\n')
  const first = lines.find((line) => line.split(':')[1]?.split(',').includes('cpu'))
  if (first !== undefined) return path.join('/sys/fs/cgroup/cpu', first.split(':')[2] ?? '')
  return path.join('/sys/fs/cgroup', lines[0]?.split(':')[2] ?? '')
}

const throttledPeriods = (): number =>
  Number(/^nr_throttled (\d+)$/m.exec(readFileSync(path.join(greedyGroup, 'cpu.stat'), 'utf8'))?.[1])

/** From Linux 6.12 on. */
const [major = 0, minor = 0] = release().split('.').map(Number)
const KNOWS_TURNS = major > 6 || (major === 6 && minor >= 12)
/** The time slice in nanoseconds; undefined if the kernel does not tell. */
const turnsOf = (pid: number): string | undefined =>
  /^se\.slice\s+:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/sched`, 'utf8'))?.[1]

const servingOf = async (who: Tenant, { id }: ShownLoadBalancer) => (await system.loadBalancer(who, id)).status.serving
/** Slowly, well within the neighbour's own share. */
const askNeighbour = () => askOn(() => client.http(vipOf(blog), 80, { timeoutMs: 5000 }), 20)

describe('a tenant that wants more than its share of a node', () => {
  it('is told so on its own load balancers and by the figures of the node; its neighbour misses nothing', async () => {
    const neighbour = askNeighbour()
    const attack = () =>
      system.lab.must('client', ['python3', BURST_PROGRAM, 'syns', vipOf(shop), '80', '40000', CLIENT])
    await attack()
    // What the agent saw at its first look is not reported. It looks again after a hundred times as long as a look
    // took.
    await waitFor(
      async () => {
        await attack()
        return (await servingOf(acme, shop)).reason === 'OverShare'
      },
      { what: 'the word of the node', timeoutMs: 180_000 },
    )
    const told = await servingOf(acme, shop)
    expect(told).toMatchObject({
      state: 'partly',
      message: expect.stringContaining('Node node1 drops new connections'),
    })
    // Everything of its own network is affected, and nothing of others.
    expect((await servingOf(acme, site)).reason).toBe('OverShare')
    expect((await servingOf(bolt, blog)).reason).toBe('Serving')
    const figures = await system.lab.must('node1', ['curl', '-sf', `http://${METRICS}/metrics`])
    const refused = Number(/^spout_agent_share_refused_total\{share="new-flows"\} (\d+)/m.exec(figures)?.[1])
    expect(refused).toBeGreaterThan(1_000)
    expect(figures).toMatch(/^spout_agent_share_networks_over\{share="new-flows"\} 1$/m)
    const asked = await neighbour.stop()
    expect(failuresOf(asked)).toEqual([])
    recordFault({
      fault: 'a tenant takes more than its share of a node: 40,000 connections at once, again and again',
      outcome: 'its load balancers say which node drops what; its neighbour is answered',
      figure: `0 of ${asked.length} requests of the neighbour failed`,
    })
  })

  it('has no more of the processors than its proxy may have', async () => {
    const [proxy] = (await proxiesOf(system.lab, 'node1')).filter(({ pid }) => groupOf(pid) === greedyGroup)
    expect(turnsOf(proxy!.pid)).toBe(KNOWS_TURNS ? '100000' : turnsOf(process.pid))
    const neighbour = askNeighbour()
    const before = { periods: throttledPeriods(), seconds: processorSeconds(proxy!), atMs: performance.now() }
    const greedy = Array.from({ length: CROWD }, () =>
      askOn(() => crowd.http(vipOf(site), 80, { timeoutMs: 20_000 }), 0),
    )
    await waitFor(() => throttledPeriods() - before.periods >= 20, { what: 'the proxy to want more than it has' })
    const isTold = async (who: Tenant, shown: ShownLoadBalancer) =>
      (await servingOf(who, shown)).message.includes('Node node1 slows down its proxy')
    await waitFor(() => isTold(acme, site), { what: 'the word of the node', timeoutMs: 60_000 })
    expect(await isTold(bolt, blog)).toBe(false)
    const elapsed = (performance.now() - before.atMs) / 1000
    const used = (processorSeconds(proxy!) - before.seconds) / elapsed
    const answers = (await Promise.all(greedy.map((one) => one.stop()))).flat()
    const asked = await neighbour.stop()
    // A clock tick and a period of the quota at either end.
    expect(used).toBeLessThan(PROCESSORS * 1.2 + 0.03)
    expect([failuresOf(asked), failuresOf(answers)]).toEqual([[], []])
    recordFault({
      fault: 'a tenant takes more than its share of a node: its proxy wants more processor time',
      outcome: `it has ${used.toFixed(2)} of a processor, where it may have ${PROCESSORS}; its neighbour is answered`,
      figure: `0 of ${asked.length} requests of the neighbour failed`,
    })
  })

  it('has no more connections of its proxy than it may', async () => {
    const neighbour = askNeighbour()
    const holder = await system.lab.start(
      'client',
      'holder',
      ['python3', BURST_PROGRAM, 'held', vipOf(site), '80', `${CONNECTIONS}`],
      { readyText: `${CONNECTIONS}` },
    )
    const isTold = async (who: Tenant, shown: ShownLoadBalancer) =>
      (await servingOf(who, shown)).message.includes(`Node node1 accepts no more connections to its proxy`)
    await waitFor(() => isTold(acme, site), { what: 'the word of the node', timeoutMs: 60_000 })
    expect((await servingOf(acme, site)).message).toContain(`it has reached its limit of ${CONNECTIONS}.`)
    expect(await isTold(bolt, blog)).toBe(false)
    const figures = await system.lab.must('node1', ['curl', '-sf', `http://${METRICS}/metrics`])
    expect(figures).toMatch(/^spout_agent_share_networks_over\{share="connections"\} 1$/m)
    expect(figures).toMatch(/^spout_agent_share_used_ratio\{share="connections"\} 1$/m)
    // A proxy with these connections uses almost no memory.
    expect(Number(/^spout_agent_share_used_ratio\{share="memory"\} ([\d.e-]+)$/m.exec(figures)?.[1])).toBeLessThan(0.5)
    expect(figures).toMatch(/^spout_agent_share_networks_over\{share="memory"\} 0$/m)
    await system.lab.stop(holder)
    const asked = await neighbour.stop()
    expect(failuresOf(asked)).toEqual([])
    recordFault({
      fault: `a tenant takes more than its share of a node: all ${CONNECTIONS} connections of its proxy`,
      outcome: 'its load balancers say so; its neighbour is answered',
      figure: `0 of ${asked.length} requests of the neighbour failed`,
    })
  })
})
