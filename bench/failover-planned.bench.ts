/**
 * Planned work on the node that carries an address: it is drained; it is drained, comes back and takes nothing; its agent
 * is ended and started again. Nobody may notice. Beside: keepalived with adverts of 20 ms, stopped in good order.
 */
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { announceBy } from './failover/announce.ts'
import { KeepalivedPair } from './failover/keepalived-pair.ts'
import { type Seen, Watchers } from './failover/measure-faults.ts'
import { EchoMembers } from './failover/observers.ts'
import { finish } from './failover/results.ts'
import { only, options, RUNS } from './failover/settings.ts'
import { SpoutPair } from './failover/spout-pair.ts'
import { distribution } from './percentile.ts'
import { isWanted } from './row.ts'

const now = (): bigint => process.hrtime.bigint()
const PLANS = ['planned-move', 'drain', 'agent-upgrade'] as const
type Plan = (typeof PLANS)[number]

async function carryOut(plan: Plan, pair: SpoutPair, our: Watchers): Promise<Seen> {
  const carrier = await our.carrier()
  if (plan === 'agent-upgrade')
    return our.see(async () => {
      await pair.restartAgent(carrier.name)
      return now()
    })
  const drain = async () => {
    await pair.schedule(carrier.name, 'draining')
    await our.movedFrom(carrier)
  }
  const enable = () => pair.schedule(carrier.name, 'enabled')
  if (plan === 'planned-move') {
    const seen = await our.see(async () => {
      await drain()
      return now()
    })
    await enable()
    return seen
  }
  return our.see(async () => {
    await drain()
    await enable()
    // Long enough for whoever would take the address back.
    await new Promise((resolve) => setTimeout(resolve, 2000))
    if ((await our.carrier()) === carrier) throw new Error(`${carrier.name} came back and took the address`)
    return now()
  })
}

async function keepalivedStops(pair: KeepalivedPair, watchers: Watchers): Promise<Seen> {
  const carrier = await watchers.carrier()
  const seen = await watchers.see(async () => {
    await pair.stop(carrier)
    await watchers.movedFrom(carrier)
    return now()
  })
  await pair.restore(carrier)
  return seen
}

const sum = (all: readonly Seen[], of: (seen: Seen) => number): number => all.reduce((total, one) => total + of(one), 0)
const gaps = (all: readonly Seen[]) => distribution(all.map(({ gapMs }) => gapMs))

function tell(plan: Plan, ours: readonly Seen[], peers: readonly Seen[], announcer: string): void {
  const flows = sum(ours, ({ flows }) => flows?.of ?? 0)
  const broken = flows - sum(ours, ({ flows }) => flows?.survived ?? 0)
  const lost = sum(ours, (one) => one.lost)
  const failedRequests = sum(ours, ({ workers }) => workers?.failed ?? 0)
  finish({
    name: plan,
    ours: { lostPackets: lost, brokenFlows: broken, failedRequests, gapMaxMs: gaps(ours).max },
    peer:
      peers.length === 0
        ? null
        : {
            lostPackets: sum(peers, (one) => one.lost),
            gapMaxMs: gaps(peers).max,
            brokenFlows: sum(peers, ({ flows }) => (flows?.of ?? 0) - (flows?.survived ?? 0)),
          },
    comparedWith: 'keepalived with adverts of 20 ms stopped in good order, in front of DNAT and masquerade',
    ratio: null,
    goal: '0 packets, 0 flows lost, 0 failed requests of kept-alive HTTP clients',
    pass: lost === 0 && broken === 0 && failedRequests === 0,
    detail: { announcer, runs: ours.length, flows, longestStallMs: Math.max(...ours.map((one) => one.stallInGapMs)) },
    distributions: {
      [`Spout, ${plan}`]: gaps(ours),
      ...(peers.length === 0 ? {} : { 'keepalived 20 ms, stopped': gaps(peers) }),
    },
  })
}

const work = async (bed: SpoutBed): Promise<void> => {
  const { lab } = bed
  await using _members = await EchoMembers.start(lab, ['tenant-a-member1', 'tenant-a-member2'])
  const announcer = await announceBy(bed, 'vrrp')
  const pair = await SpoutPair.create(bed, announcer)
  const peer = await KeepalivedPair.start(lab, {
    ...{ prefix: 'kaf', name: 'keepalived 20 ms', advertMs: 20, routerId: 202, index: 6 },
    vips: ['198.51.100.252'],
  })
  await using our = await Watchers.start(lab, pair, { flows: true, workers: true })
  await using peerWatch = await Watchers.start(lab, peer, { flows: true, workers: false })
  for (const plan of only('PLANS', PLANS).filter((plan) => isWanted(plan, options))) {
    const [ours, peers]: [Seen[], Seen[]] = [[], []]
    for (let run = 0; run < RUNS; run++) {
      ours.push(await carryOut(plan, pair, our))
      if (plan === 'planned-move' && (run < 5 || !options.quick)) peers.push(await keepalivedStops(peer, peerWatch))
    }
    tell(plan, ours, peers, announcer)
  }
}

await withSpout({ members: false }, work)
