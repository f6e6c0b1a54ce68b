/**
 * 1,000 addresses of one tenant's network, so that all move together: one more is added, and the node that has them
 * loses its power. Every address is probed by ICMP; the figure of a failover is the time of the last lost probe, of any
 * address. Compared with keepalived holding as many in one instance, adverts of 20 ms. Then 1,000 IPv6 addresses more.
 */
import { callApi, nodesInSync, type SystemAccess, type Tenant, waitFor } from '@spout/testkit'
import { Filler, WIDE6 } from './bed/fill.ts'
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
import { SWEEP_INTERVAL_MS, SweepProber } from './failover/sweep-prober.ts'
import { distribution } from './percentile.ts'

const VIPS = Number(process.env['SPOUT_BENCH_VIPS'] ?? 1000)
const ADDED = options.quick ? 20 : 200
const RELOADS = options.quick ? 3 : 10
const MOST_RELOAD_MS = 60_000
const GOALS = { addP99Ms: 20, lastP99Ms: 150, agentMb: 100 }
/** Reports of nodes take some time to arrive. */
const SETTLED_MS = 500
const PATIENCE_MS = 10_000
const FLOW = { port: MEMBER_PORTS.udp, sourcePort: 40_000 }
const members = [11, 12].map((n) => ({ address: `10.0.0.${n}`, protocol_port: MEMBER_PORTS.http }))

interface Failover {
  /** Until the last probe of any address was lost. */
  readonly lastLostMs: number
  /** Until the last address had answered, at the latest. */
  readonly backMs: number
  /** The prober's own longest delay meanwhile: this part was no outage. */
  readonly stallMs: number
  /** Whether they had moved without a fault, just before it. */
  readonly movedBefore: boolean
}

const vipsOf = async ({ endpoint }: SystemAccess, { token }: Tenant, prefix: string): Promise<readonly string[]> => {
  const { items } = await callApi<{ items: { vips: { address: string }[] }[] }>(
    endpoint,
    token,
    'GET',
    '/load-balancers',
  )
  return items.flatMap(({ vips }) => vips.map(({ address }) => address)).filter((address) => address.startsWith(prefix))
}

/** Waits until each shard has a master and a backup: a node that has just come back cannot take over yet. */
async function shardsSettled({ access: { endpoint, admin } }: SpoutBed): Promise<void> {
  interface Shown {
    readonly status: { readonly shards: readonly { readonly number: number; readonly state: string }[] }
  }
  const settled = async () => {
    const { items } = await callApi<{ items: Shown[] }>(endpoint, admin.token, 'GET', '/nodes')
    const shards = items.map(({ status }) => status.shards.toSorted((a, b) => a.number - b.number))
    const [first = [], second = []] = shards
    return (
      first.length > 0 &&
      first.every(({ state }, at) => [state, second[at]?.state].toSorted().join() === 'backup,master')
    )
  }
  await waitFor(settled, { what: 'each shard to have a master and a backup', timeoutMs: 30_000 })
  await new Promise((resolve) => setTimeout(resolve, SETTLED_MS))
}

/** Our pair, observed through one of the probed addresses. */
const seenAt = (bed: SpoutBed, pair: Pair, vip = pair.vip): Pair => ({
  name: pair.name,
  vip,
  nodes: pair.nodes,
  patienceMs: pair.patienceMs,
  restore: async (node) => {
    await pair.restore(node)
    await shardsSettled(bed)
  },
})

/** Cuts the power of its node; measures when the other node answered for the last of the addresses. */
async function failover(bed: SpoutBed, pair: Pair, prober: SweepProber, faults: FaultMaker): Promise<Failover> {
  const { lab } = bed
  // Makes the router resolve the node's MAC.
  await lab.run('client', ['ping', '-c', '1', '-W', '1', pair.vip])
  const before = await someCarrier(lab, pair, FLOW)
  await prober.begin()
  await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 200))
  await lab.run('client', ['ping', '-c', '1', '-W', '1', pair.vip])
  const carrier = await someCarrier(lab, pair, FLOW)
  const since = await faults.powerOff(carrier)
  await prober.fault(since)
  await prober.allBack(pair.patienceMs + PATIENCE_MS)
  const { silentMs, backMs, stallInOutageMs } = await prober.end(since)
  const moved = async () => ![null, carrier].includes(await carrierOf(lab, pair, FLOW))
  await waitFor(moved, { what: `${pair.name} to move`, timeoutMs: pair.patienceMs })
  await faults.mend('power off', carrier)
  await pair.restore(carrier)
  return { lastLostMs: silentMs, backMs, stallMs: stallInOutageMs, movedBefore: carrier !== before }
}

async function failovers(bed: SpoutBed, pair: Pair, addresses: readonly string[], faults: FaultMaker, runs: number) {
  await using prober = await SweepProber.start(bed.lab, addresses)
  const all: Failover[] = []
  for (let run = 0; run < runs; run++) all.push(await failover(bed, pair, prober, faults))
  return {
    last: distribution(all.map(({ lastLostMs }) => lastLostMs)),
    backMaxMs: Math.max(...all.map(({ backMs }) => backMs)),
    stallMaxMs: Math.max(...all.map(({ stallMs }) => stallMs)),
    falseMoves: all.filter(({ movedBefore, lastLostMs }) => movedBefore || lastLostMs === 0).length,
  }
}

async function addTo(bed: SpoutBed, poolId: string, vips: readonly string[]) {
  const { access, gateway, lab } = bed
  await using clients = await SweepProber.start(lab, vips)
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

/** Makes keepalived reload with one more address. @returns the time until that answers, and which others fell silent */
async function reloadsOf(bed: SpoutBed, pair: KeepalivedPair, vips: readonly string[]) {
  await using prober = await SweepProber.start(bed.lab, vips)
  const samples: number[] = []
  let [touched, unanswered] = [0, 0]
  let known = vips
  for (let n = 0; n < RELOADS; n++) {
    const added = `100.65.200.${n + 1}`
    known = [...known, added]
    await using one = await Prober.start(bed.lab, [added], { port: 0 })
    const carrier = await someCarrier(bed.lab, pair, FLOW)
    await prober.begin()
    const since = await one.begin()
    for (const node of pair.nodes.toSorted((a) => (a === carrier ? -1 : 1))) await pair.reload(node, known)
    // Not the first answered probe: the router queued earlier ones for an address that nobody had. If a peer fails, the
    // row is not lost: its longest waiting time counts.
    const backMs = await one.answeredAfter(since, MOST_RELOAD_MS).catch(() => null)
    await new Promise((resolve) => setTimeout(resolve, 500))
    samples.push(backMs ?? MOST_RELOAD_MS)
    if (backMs === null) unanswered++
    touched += (await prober.end()).touched
  }
  return { added: distribution(samples), touched, unanswered }
}

await withSpout({ members: false }, async (bed) => {
  const { lab, access } = bed
  using _room = new NeighbourRoom(16_384)
  await using _members = await EchoMembers.start(lab, ['tenant-a-member1', 'tenant-a-member2'])
  await using faults = await FaultMaker.start(lab)
  await lab.must('router', ['ip', 'route', 'add', '100.64.0.0/15', 'dev', 'fab0'])
  await lab.must('router', ['ip', '-6', 'route', 'add', WIDE6.cidr, 'dev', 'fab0'])
  const announcer = await announceBy(bed, 'vrrp')
  const ours = await SpoutPair.create(bed, announcer)
  const agentMb = () => Math.max(...ours.nodes.map(({ name }) => residentMb(lab.process(`agent-${name}`)?.pid ?? 0)))
  const filler = await Filler.create(bed)
  await filler.fillTo(VIPS)
  const vips = await vipsOf(access, bed.gateway, '100.')
  const pools = await callApi<{ items: { id: string; name: string }[] }>(
    ...([access.endpoint, access.admin.token, 'GET', '/address-pools'] as const),
  )
  const added = await addTo(bed, pools.items.find(({ name }) => name === 'wide')?.id ?? '', vips)
  // After adding was measured: it binds a thousand addresses at real-time priority, for seconds.
  const theirs = Array.from({ length: VIPS }, (_, n) => `100.65.${n >> 7}.${(n & 127) + 1}`)
  const peer = await KeepalivedPair.start(lab, {
    ...{ prefix: 'kav', name: 'keepalived 20 ms', advertMs: 20, routerId: 203, index: 6 },
    vips: theirs,
  })
  const pair = seenAt(bed, ours, vips[0])
  await shardsSettled(bed)
  const our = await failovers(bed, pair, vips, faults, RUNS)
  const residentAgentMb = agentMb()
  const peerAdded = await reloadsOf(bed, peer, theirs)
  const their = await failovers(bed, peer, theirs, faults, Math.min(RUNS, 5))
  finish({
    name: 'vip-scale',
    ours: {
      addP99Ms: added.fromAnswer.p99,
      flaps: added.touched,
      lastVipP99Ms: our.last.p99,
      agentMb: residentAgentMb,
    },
    peer: { addP99Ms: peerAdded.added.p99, flaps: peerAdded.touched, lastVipP99Ms: their.last.p99 },
    comparedWith: `keepalived holding ${VIPS} addresses in one instance, adverts of 20 ms; adding is a reload`,
    ratio: our.last.p99 / their.last.p99,
    goal: `adding one <= ${GOALS.addP99Ms} ms (from the API's answer to the first byte, p99), 0 flaps; last of ${VIPS} addresses p99 <= ${GOALS.lastP99Ms} ms; agent <= ${GOALS.agentMb} MB`,
    pass:
      added.fromAnswer.p99 <= GOALS.addP99Ms &&
      added.touched === 0 &&
      our.last.p99 <= GOALS.lastP99Ms &&
      residentAgentMb <= GOALS.agentMb,
    detail: {
      announcer,
      vips: vips.length,
      added: ADDED,
      runs: RUNS,
      addFromPostP50Ms: added.fromPost.p50,
      addFromPostP99Ms: added.fromPost.p99,
      backMaxMs: our.backMaxMs,
      peerBackMaxMs: their.backMaxMs,
      askedEveryMs: SWEEP_INTERVAL_MS,
      stallMs: added.stallMs,
      failoverStallMaxMs: our.stallMaxMs,
      falseMoves: our.falseMoves,
      peerFalseMoves: their.falseMoves,
      peerReloadsUnanswered: peerAdded.unanswered,
      peerFailoverStallMaxMs: their.stallMaxMs,
    },
    distributions: {
      [`Spout, last of ${VIPS}`]: our.last,
      [`keepalived 20 ms, last of ${VIPS}`]: their.last,
      'Spout, one address added': added.fromAnswer,
      'keepalived, one address added': peerAdded.added,
    },
  })
  await (await Filler.create(bed, WIDE6)).fillTo(VIPS)
  const vips6 = await vipsOf(access, bed.gateway, 'fd64:')
  await nodesInSync(access, ours.nodes.length)
  await shardsSettled(bed)
  const six = await failovers(bed, pair, vips6, faults, RUNS)
  finish({
    name: 'vip-scale-ipv6',
    ours: { lastVipP99Ms: six.last.p99, agentMb: agentMb() },
    peer: { lastVipP99Ms: their.last.p99 },
    comparedWith: `the same, holding ${VIPS} IPv4 addresses`,
    ratio: six.last.p99 / their.last.p99,
    goal: `last of ${VIPS} IPv6 addresses, moved with as many IPv4 ones, p99 <= ${GOALS.lastP99Ms} ms`,
    pass: six.last.p99 <= GOALS.lastP99Ms,
    detail: {
      announcer,
      vips: vips.length + vips6.length,
      runs: RUNS,
      backMaxMs: six.backMaxMs,
      failoverStallMaxMs: six.stallMaxMs,
      falseMoves: six.falseMoves,
    },
    distributions: { [`Spout, last of ${VIPS} IPv6`]: six.last },
  })
})
