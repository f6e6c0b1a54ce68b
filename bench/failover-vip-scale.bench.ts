/**
 * 1,000 addresses of one tenant's network, so that all move together: one more is added, and the node that has them loses
 * its power. Every address is asked by ICMP in turn; the figure of a failover is when the last question was lost, to any
 * of them. Beside: keepalived holding as many in one instance, adverts of 20 ms.
 */
import { callApi, type SystemAccess, type Tenant, waitFor } from '@spout/testkit'
import { Filler } from './bed/fill.ts'
import { compile, LineProgram } from './bed/native.ts'
import { createTree } from './bed/octavia.ts'
import { residentMb } from './bed/processes.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { announceBy } from './failover/announce.ts'
import { FaultMaker } from './failover/faults.ts'
import { KeepalivedPair } from './failover/keepalived-pair.ts'
import { NeighbourRoom } from './failover/neighbour-table.ts'
import { EchoMembers, MEMBER_PORTS, Prober } from './failover/observers.ts'
import { carrierOf, type Pair, someCarrier } from './failover/pair.ts'
import { finish } from './failover/results.ts'
import { options, RUNS } from './failover/settings.ts'
import { SpoutPair } from './failover/spout-pair.ts'
import { distribution } from './percentile.ts'

const VIPS = Number(process.env['SPOUT_BENCH_VIPS'] ?? 1000)
const ADDED = options.quick ? 20 : 200
const RELOADS = options.quick ? 3 : 10
const GOALS = { addP99Ms: 20, lastP99Ms: 150, agentMb: 100 }
/** So often every address is asked. */
const INTERVAL_US = 100_000
const FLOW = { port: MEMBER_PORTS.udp, sourcePort: 40_000 }
const members = [11, 12].map((n) => ({ address: `10.0.0.${n}`, protocol_port: MEMBER_PORTS.http }))

interface Failover {
  /** Until the last question to any address was lost. */
  readonly lastLostMs: number
  /** Until the first answered question to the last of them. */
  readonly backMs: number
}

const vipsOf = async ({ endpoint }: SystemAccess, { token }: Tenant): Promise<readonly string[]> => {
  const { items } = await callApi<{ items: { vips: { address: string }[] }[] }>(
    endpoint,
    token,
    'GET',
    '/load-balancers',
  )
  return items.flatMap(({ vips }) => vips.map(({ address }) => address)).filter((address) => address.startsWith('100.'))
}

/** The same pair, looked at by one of the addresses that are asked. */
const seenAt = (pair: Pair, vip = pair.vip): Pair => ({
  name: pair.name,
  vip,
  nodes: pair.nodes,
  patienceMs: pair.patienceMs,
  restore: (node) => pair.restore(node),
})

/** Its node loses its power; tells when the last of the addresses was answered for by the other one. */
async function failover(bed: SpoutBed, pair: Pair, prober: Prober, faults: FaultMaker): Promise<Failover> {
  const { lab } = bed
  const carrier = await someCarrier(lab, pair, FLOW)
  await prober.begin()
  await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 200))
  const since = await faults.powerOff(carrier)
  const moved = async () => ![null, carrier].includes(await carrierOf(lab, pair, FLOW))
  await waitFor(moved, { what: `${pair.name} to move`, timeoutMs: pair.patienceMs })
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const { silentMs, backMs } = await prober.end(since)
  await faults.mend('power off', carrier)
  await pair.restore(carrier)
  return { lastLostMs: silentMs, backMs }
}

async function add(bed: SpoutBed, poolId: string, clients: Prober) {
  const { access, gateway, lab } = bed
  await using asker = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  const [fromPost, fromAnswer]: [number[], number[]] = [[], []]
  await clients.begin()
  for (let n = 0; n < ADDED; n++) {
    const asked = process.hrtime.bigint()
    const tree = { name: `added-${n}`, networkId: poolId, protocol: 'TCP', members } as const
    const { vip_address } = await createTree(access, gateway, tree)
    const answered = process.hrtime.bigint()
    const [first = '-1'] = (await asker.ask(`${vip_address} 80`)).split(' ')
    if (first === '-1') throw new Error(`${vip_address} never answered`)
    fromPost.push(Number(BigInt(first) - asked) / 1e6)
    fromAnswer.push(Number(BigInt(first) - answered) / 1e6)
  }
  const { touched, stallMs } = await clients.end()
  return { fromPost: distribution(fromPost), fromAnswer: distribution(fromAnswer), touched, stallMs }
}

/** keepalived reads its configuration again with one address more: until that answers, and who else fell silent. */
async function reloads(bed: SpoutBed, pair: KeepalivedPair, vips: readonly string[], prober: Prober) {
  const samples: number[] = []
  let touched = 0
  let known = vips
  for (let n = 0; n < RELOADS; n++) {
    const added = `100.65.200.${n + 1}`
    known = [...known, added]
    await using one = await Prober.start(bed.lab, [added], { port: 0 })
    const carrier = await someCarrier(bed.lab, pair, FLOW)
    await prober.begin()
    const since = await one.begin()
    for (const node of pair.nodes.toSorted((a) => (a === carrier ? -1 : 1))) await pair.reload(node, known)
    await one.answeredAfter(since, 60_000)
    await new Promise((resolve) => setTimeout(resolve, 500))
    samples.push((await one.end(since)).backMs)
    touched += (await prober.end(since)).touched
  }
  return { added: distribution(samples), touched }
}

await withSpout({ members: false }, async (bed) => {
  const { lab, access } = bed
  using _room = new NeighbourRoom(16_384)
  await using _members = await EchoMembers.start(lab, ['tenant-a-member1', 'tenant-a-member2'])
  await using faults = await FaultMaker.start(lab)
  await lab.must('router', ['ip', 'route', 'add', '100.64.0.0/15', 'dev', 'fab0'])
  const announcer = await announceBy(bed, 'vrrp')
  const ours = await SpoutPair.create(bed, announcer)
  const filler = await Filler.create(bed)
  await filler.fillTo(VIPS)
  const vips = await vipsOf(access, bed.gateway)
  const theirs = Array.from({ length: VIPS }, (_, n) => `100.65.${n >> 7}.${(n & 127) + 1}`)
  const peer = await KeepalivedPair.start(lab, {
    ...{ prefix: 'kav', name: 'keepalived 20 ms', advertMs: 20, routerId: 203, index: 6 },
    vips: theirs,
  })
  await using our = await Prober.start(lab, vips, { port: 0, intervalUs: INTERVAL_US })
  const pools = await callApi<{ items: { id: string; name: string }[] }>(
    ...([access.endpoint, access.admin.token, 'GET', '/address-pools'] as const),
  )
  const added = await add(bed, pools.items.find(({ name }) => name === 'wide')?.id ?? '', our)
  const failovers: Failover[] = []
  for (let run = 0; run < RUNS; run++) failovers.push(await failover(bed, seenAt(ours, vips[0]), our, faults))
  const agentMb = Math.max(...ours.nodes.map(({ name }) => residentMb(lab.process(`agent-${name}`)?.pid ?? 0)))
  await our[Symbol.asyncDispose]()
  await using their = await Prober.start(lab, theirs, { port: 0, intervalUs: INTERVAL_US })
  const peerAdded = await reloads(bed, peer, theirs, their)
  const peerFailovers: Failover[] = []
  for (let run = 0; run < Math.min(RUNS, 5); run++) peerFailovers.push(await failover(bed, peer, their, faults))
  const last = (list: readonly Failover[]) => distribution(list.map(({ lastLostMs }) => lastLostMs))
  finish({
    name: 'vip-scale',
    ours: { addP99Ms: added.fromAnswer.p99, flaps: added.touched, lastVipP99Ms: last(failovers).p99, agentMb },
    peer: { addP99Ms: peerAdded.added.p99, flaps: peerAdded.touched, lastVipP99Ms: last(peerFailovers).p99 },
    comparedWith: `keepalived holding ${VIPS} addresses in one instance, adverts of 20 ms; adding is a reload`,
    ratio: last(failovers).p99 / last(peerFailovers).p99,
    goal: `adding one <= ${GOALS.addP99Ms} ms (from the API's answer to the first byte, p99), 0 flaps; last of ${VIPS} addresses p99 <= ${GOALS.lastP99Ms} ms; agent <= ${GOALS.agentMb} MB`,
    pass:
      added.fromAnswer.p99 <= GOALS.addP99Ms &&
      added.touched === 0 &&
      last(failovers).p99 <= GOALS.lastP99Ms &&
      agentMb <= GOALS.agentMb,
    detail: {
      announcer,
      vips: vips.length,
      added: ADDED,
      runs: RUNS,
      addFromPostP50Ms: added.fromPost.p50,
      addFromPostP99Ms: added.fromPost.p99,
      backMaxMs: Math.max(...failovers.map(({ backMs }) => backMs)),
      peerBackMaxMs: Math.max(...peerFailovers.map(({ backMs }) => backMs)),
      askedEveryMs: INTERVAL_US / 1000,
      stallMs: added.stallMs,
    },
    distributions: {
      [`Spout, last of ${VIPS}`]: last(failovers),
      [`keepalived 20 ms, last of ${VIPS}`]: last(peerFailovers),
      'Spout, one address added': added.fromAnswer,
      'keepalived, one address added': peerAdded.added,
    },
  })
})
