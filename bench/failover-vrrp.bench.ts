/**
 * The node that carries an address loses its cable, its announcing daemons by kill -9, or its power. A client behind
 * the router sends a request to the address every millisecond; eight HTTP clients and 1,100 TCP connections run
 * meanwhile. Compared with keepalived as its manual configures it, and with adverts of 20 ms, in front of a
 * hand-written DNAT.
 */
import { withSpout } from './bed/spout-bed.ts'
import { announceBy } from './failover/announce.ts'
import { FAULTS, FaultMaker } from './failover/faults.ts'
import { KeepalivedPair } from './failover/keepalived-pair.ts'
import { Watchers } from './failover/measure-faults.ts'
import { EchoMembers } from './failover/observers.ts'
import { finish } from './failover/results.ts'
import { distributionsOf, rounds } from './failover/rounds.ts'
import { RUNS } from './failover/settings.ts'
import { SpoutPair } from './failover/spout-pair.ts'

const GOAL_MS = 100

await withSpout({ members: false }, async (bed) => {
  const { lab } = bed
  await using _members = await EchoMembers.start(lab, ['tenant-a-member1', 'tenant-a-member2'])
  await using faults = await FaultMaker.start(lab)
  const announcer = await announceBy(bed, 'vrrp')
  const slow = await KeepalivedPair.start(lab, {
    ...{ prefix: 'kad', name: 'keepalived 1 s', advertMs: null, routerId: 201, index: 4 },
    vips: ['198.51.100.251'],
  })
  const quick = await KeepalivedPair.start(lab, {
    ...{ prefix: 'kaf', name: 'keepalived 20 ms', advertMs: 20, routerId: 202, index: 6 },
    vips: ['198.51.100.252'],
  })
  await using our = await Watchers.start(lab, await SpoutPair.create(bed, announcer), { flows: true, workers: true })
  await using slowWatch = await Watchers.start(lab, slow, { flows: false, workers: false })
  await using quickWatch = await Watchers.start(lab, quick, { flows: false, workers: false })
  const peer = { faults: FAULTS, runs: RUNS }
  const sufferers = [
    // By itself `l2` only detects silent nodes.
    {
      series: 'Spout',
      watchers: our,
      faults: announcer === 'l2' ? FAULTS.slice(2) : ([...FAULTS, 'kill -9 of the elector'] as const),
      runs: RUNS,
      lane: 0,
    },
    { series: slow.name, watchers: slowWatch, ...peer, lane: 1 },
    { series: quick.name, watchers: quickWatch, ...peer, lane: 2 },
  ]
  const logs = await rounds(sufferers, faults)
  const [log, slowLog, quickLog] = sufferers.map(({ series }) => logs.get(series)!)
  const { broken, of } = log!.brokenFlows()
  const ours = { worstP99Ms: log!.worstP99(), brokenFlows: broken, failedRequests: log!.failedRequests() }
  finish({
    name: 'failover-vrrp',
    ours,
    peer: { keepalived1sWorstP99Ms: slowLog!.worstP99(), keepalived20msWorstP99Ms: quickLog!.worstP99() },
    comparedWith: 'keepalived with its default adverts of 1 s, and with 20 ms, in front of a hand-written DNAT',
    ratio: ours.worstP99Ms / slowLog!.worstP99(),
    goal: `p99 <= ${GOAL_MS} ms for every fault, >= 99.9 % of the TCP flows live on`,
    pass: ours.worstP99Ms <= GOAL_MS && broken <= of / 1000,
    detail: {
      announcer,
      runsPerFault: RUNS,
      flows: of,
      longestRequestGapMs: log!.longestRequestGapMs(),
      longestStallMs: log!.longestStallMs(),
      realtimeProber: String(our.prober.realtime),
    },
    distributions: distributionsOf(logs),
  })
})
