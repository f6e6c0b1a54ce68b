/**
 * As failover-vrrp, where every node announces its addresses to the router by BGP and one of them fails: the flow that is
 * measured is one that the router sends to that node, and members answer by themselves (`dsr`): of networks where they
 * answer through a node, that node alone announces. With BFD as the default profile has it and as the fast one.
 * Beside: BIRD by itself with BFD, and without it, told nothing but whom to speak with.
 */
import { withSpout } from './bed/spout-bed.ts'
import { announceBy, createRoutedPool, peerWithRouter, SPOUT_NEIGHBOURS } from './failover/announce.ts'
import { startBirdRouter } from './failover/bird.ts'
import { BirdPair, type BirdSpec, neighboursOf } from './failover/bird-pair.ts'
import { directPair } from './failover/direct-return.ts'
import { FAULTS, FaultMaker } from './failover/faults.ts'
import { Watchers } from './failover/measure-faults.ts'
import { EchoMembers } from './failover/observers.ts'
import { finish } from './failover/results.ts'
import { distributionsOf, rounds } from './failover/rounds.ts'
import { options, RUNS } from './failover/settings.ts'

const GOALS_MS = { fast: 30, default: 250 } as const
const WITH_BFD: BirdSpec = {
  ...{ prefix: 'bfd', name: 'BIRD with BFD', as: 65_010, bfd: true, index: 8 },
  ...{ vip: '192.0.2.20', patienceMs: 5000 },
}
/** BIRD's hold time is 240 s unless it is told otherwise: once is enough. */
const WITHOUT: BirdSpec = {
  ...{ prefix: 'bgp', name: 'BIRD, default hold time', as: 65_011, bfd: false, index: 10 },
  ...{ vip: '192.0.2.21', patienceMs: 300_000 },
}
const HOLD_RUNS = options.quick ? 0 : 1
const PEERS_ALONE = process.env['SPOUT_BENCH_ANNOUNCER'] === 'none'

await withSpout({ members: false }, async (bed) => {
  const { lab } = bed
  await using _members = await EchoMembers.start(lab, ['tenant-a-member1', 'tenant-a-member2'])
  await using faults = await FaultMaker.start(lab)
  await startBirdRouter(lab, [...SPOUT_NEIGHBOURS, ...neighboursOf(WITH_BFD), ...neighboursOf(WITHOUT)])
  const idle = { flows: false, workers: false }
  await using bfdWatch = await Watchers.start(lab, await BirdPair.start(lab, WITH_BFD), idle)
  await using holdWatch = await Watchers.start(lab, await BirdPair.start(lab, WITHOUT), idle)
  const peers = [
    { series: WITH_BFD.name, watchers: bfdWatch, faults: FAULTS, runs: RUNS, lane: 1 },
    { series: WITHOUT.name, watchers: holdWatch, faults: FAULTS, runs: HOLD_RUNS, lane: 2 },
  ]
  if (PEERS_ALONE) {
    console.error(JSON.stringify(distributionsOf(await rounds(peers, faults)), null, 1))
    return
  }
  const announcer = await announceBy(bed, 'bgp')
  const setBfd = await peerWithRouter(bed)
  const ours = await directPair(bed, announcer, await createRoutedPool(bed))
  await using our = await Watchers.start(lab, ours, { flows: true, workers: false })
  for (const profile of ['fast', 'default'] as const) {
    await setBfd(profile)
    if (announcer === 'bgp') await ours.watchedBy(profile)
    const series = `Spout, ${profile} profile`
    const logs = await rounds(
      [{ series, watchers: our, faults: FAULTS, runs: RUNS, lane: 0 }, ...(profile === 'fast' ? [] : peers)],
      faults,
    )
    const [log, bfdLog, holdLog] = [series, WITH_BFD.name, WITHOUT.name].map((name) => logs.get(name))
    const { broken, of } = log!.brokenFlows()
    const worstP99Ms = log!.worstP99()
    finish({
      name: `failover-bgp-${profile}`,
      ours: { worstP99Ms, brokenFlows: broken },
      peer:
        bfdLog === undefined
          ? null
          : { bfdWorstP99Ms: bfdLog.worstP99(), ...(HOLD_RUNS > 0 ? { holdTimeWorstMs: holdLog!.worstP99() } : {}) },
      comparedWith: 'BIRD by itself with BFD, and with its default hold time, in front of a hand-written DNAT',
      ratio: bfdLog === undefined ? null : worstP99Ms / bfdLog.worstP99(),
      goal: `p99 <= ${GOALS_MS[profile]} ms for every fault, >= 99.9 % of the TCP flows live on`,
      pass: worstP99Ms <= GOALS_MS[profile] && broken <= of / 1000,
      detail: {
        announcer,
        runsPerFault: RUNS,
        flows: of,
        longestStallMs: log!.longestStallMs(),
      },
      distributions: distributionsOf(logs),
    })
  }
})
