import {
  askOn,
  byLength,
  Caller,
  FAST_PORTS,
  recordFault,
  type ShownLoadBalancer,
  startFastMember,
  type Tenant,
  TestSystem,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACME, BOLT, balancer, tally, vipOf } from './fixtures.ts'
import { agentOf, helperOf, processorSeconds, proxiesOf } from './node-processes.ts'

const NODE = 'node1'
const MEMBERS = 1_000
/** Ports of the second half of the members, which refuse connections every other second. */
const FLAPPING = { first: FAST_PORTS.first + MEMBERS / 2, last: FAST_PORTS.first + MEMBERS - 1 }
const ALL_TURNS = 16
const TURNS = byLength(8, ALL_TURNS)
const MONITOR = { type: 'tcp', intervalMs: 1_000, timeoutMs: 500, rise: 2, fall: 1 }

let system: TestSystem
let client: Caller

beforeAll(async () => {
  system = await TestSystem.start({ tenants: [ACME, BOLT], nodes: [NODE] })
  for (const place of ['tenant-a-member1', 'tenant-b-member1'])
    await startFastMember(system.lab, place, { count: MEMBERS })
  client = await Caller.start(system.lab, 'client')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await system?.destroy()
})

const agentSeconds = (): number =>
  processorSeconds(agentOf(system.lab, NODE)) + processorSeconds(helperOf(system.lab, NODE)!)

/** Measures the processor time of agent and helper from now on. */
function meter(): () => number {
  const began = { atMs: performance.now(), seconds: agentSeconds() }
  return () => (agentSeconds() - began.seconds) / ((performance.now() - began.atMs) / 1000)
}

/** The duration of the load, not a wait for an event. */
async function lasts(ms: number): Promise<void> {
  const startMs = performance.now()
  await waitFor(() => performance.now() - startMs >= ms, { what: `${ms} ms of it` })
}

const percent = (part: number): string => `${(part * 100).toFixed(0)} %`

const healths = async (who: Tenant, { id }: ShownLoadBalancer) =>
  tally(Object.values((await system.loadBalancer(who, id)).status.members).map(({ health }) => health))

describe('F16: 500 of 1,000 members that come and go each second', () => {
  it.each([
    ['http', 'tenant-b', 1],
    ['tcp', 'tenant-a', 0],
  ] as const)('%s: are taken out and in without a reload, and requests go on', async (protocol, segment, index) => {
    const who = system.tenants[index]!
    const place = `${segment}-member1`
    const members = Array.from({ length: MEMBERS }, (_, n) => ({
      ...{ name: `m${n}`, address: '10.0.0.11', port: FAST_PORTS.first + n },
    }))
    const shown = await system.createLoadBalancer(
      who,
      balancer(protocol, protocol, { pool: { members, monitor: MONITOR } }),
    )
    await waitFor(async () => (await healths(who, shown)).get('up') === MEMBERS, {
      what: 'all to be up',
      timeoutMs: 60_000,
    })
    const table = 'inet flapping'
    const nft = (...commands: readonly string[]) => system.lab.must(place, ['nft', commands.join('; ')])
    await nft(`add table ${table}`, `add chain ${table} input { type filter hook input priority 0; }`)
    const proxies = await proxiesOf(system.lab, NODE)
    const whileCalm = meter()
    await lasts(3_000)
    const calm = whileCalm()
    const whileFlapping = meter()
    const stream = askOn(() => client.http(vipOf(shown), 80, { timeoutMs: 5_000 }))
    let least = MEMBERS
    for (let turn = 0; turn < TURNS; turn++) {
      const refuse = `tcp dport ${FLAPPING.first}-${FLAPPING.last} reject with tcp reset`
      await nft(turn % 2 === 0 ? `add rule ${table} input ${refuse}` : `flush chain ${table} input`)
      await lasts(1_000)
      least = Math.min(least, (await healths(who, shown)).get('up') ?? 0)
    }
    const load = whileFlapping()
    const asked = await stream.stop()
    const lost = asked.filter((outcome) => !outcome.ok || outcome.value.status !== 200).length
    expect(least).toBeLessThan(MEMBERS)
    expect(await proxiesOf(system.lab, NODE)).toEqual(proxies)
    // Half of the members are dead for at most an interval, half of the time.
    expect(lost).toBeLessThan(asked.length / 4)
    await waitFor(async () => (await healths(who, shown)).get('up') === MEMBERS, {
      what: 'all to be back',
      timeoutMs: 30_000,
    })
    await system.api(who, 'DELETE', `/load-balancers/${shown.id}`)
    // Its proxy drains for a while: the next case would count it among those that must stay.
    await waitFor(async () => (await proxiesOf(system.lab, NODE)).length === 0, {
      what: 'its proxy to be gone',
      timeoutMs: 60_000,
    })
    recordFault({
      fault: `members: 500 of 1,000 come and go each second, ${protocol} (F16)`,
      whole: `${ALL_TURNS} times`,
      outcome: `they are taken out and in (down to ${least} of ${MEMBERS}); no reload`,
      figure: `${TURNS} times: ${lost} of ${asked.length} requests failed; agent and helper took ${percent(load)} of a processor, ${percent(calm)} while all were up`,
    })
  })
})
