/**
 * Nothing fails, and nothing may move: 30 % of all packets between the nodes and the control plane are lost, and two
 * processes a core want all of it. Told apart: the same with 30 % of the adverts lost, which no arrangement of adverts
 * alone can bear for ever. Beside: keepalived with adverts of 1 s and of 20 ms.
 */
import { withSpout } from './bed/spout-bed.ts'
import { announceBy } from './failover/announce.ts'
import { KeepalivedPair } from './failover/keepalived-pair.ts'
import { Watchers } from './failover/measure-faults.ts'
import { Hogs, lose, loseNothing, TakeCounter } from './failover/noise.ts'
import { EchoMembers } from './failover/observers.ts'
import { finish } from './failover/results.ts'
import { options } from './failover/settings.ts'
import { SpoutPair } from './failover/spout-pair.ts'

const SECONDS = Number(process.env['SPOUT_BENCH_SECONDS'] ?? (options.quick ? 60 : 600))
const PERCENT = 30
const CONTROL = ['iifname "mgmt0"']
const ADVERTS = ['meta l4proto 112']

await withSpout({ members: false }, async (bed) => {
  const { lab } = bed
  await using _members = await EchoMembers.start(lab, ['tenant-a-member1', 'tenant-a-member2'])
  const announcer = await announceBy(bed, 'vrrp')
  const spec = (prefix: string, name: string, advertMs: number | null, n: number) => ({
    ...{ prefix, name, advertMs, routerId: 201 + n, index: 4 + 2 * n },
    vips: [`198.51.100.${251 + n}`],
  })
  const pairs = [
    await SpoutPair.create(bed, announcer),
    await KeepalivedPair.start(lab, spec('kad', 'keepalived 1 s', null, 0)),
    await KeepalivedPair.start(lab, spec('kaf', 'keepalived 20 ms', 20, 1)),
  ]
  const watchers: Watchers[] = []
  const counters: TakeCounter[] = []
  for (const pair of pairs) {
    watchers.push(await Watchers.start(lab, pair, { flows: false, workers: false }))
    counters.push(
      await TakeCounter.start(
        lab,
        pair.nodes.map(({ name }) => name),
        pair.vip,
      ),
    )
  }
  const phase = async (matching: readonly string[], seconds: number) => {
    await using _hogs = await Hogs.start(lab, ['node1', 'node2'], seconds + 30)
    const before = await Promise.all(counters.map((counter) => counter.count()))
    for (const { nodes } of pairs) for (const { name } of nodes) await lose(lab, name, matching, PERCENT)
    const began = await Promise.all(watchers.map(({ prober }) => prober.begin()))
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    const probes = await Promise.all(watchers.map(({ prober }, n) => prober.end(began[n])))
    for (const { nodes } of pairs) for (const { name } of nodes) await loseNothing(lab, name)
    const after = await Promise.all(counters.map((counter) => counter.count()))
    return { moves: after.map((count, n) => count - before[n]!), probes }
  }
  try {
    const control = await phase(CONTROL, SECONDS)
    const adverts = await phase(ADVERTS, Math.min(60, SECONDS))
    const figures = (n: number) => ({ moves: control.moves[n]!, movesWithAdvertsLost: adverts.moves[n]! })
    const [ours, slow, quick] = [0, 1, 2].map(figures)
    finish({
      name: 'false-moves',
      ours: { ...ours!, gapMs: control.probes[0]!.gapMs },
      peer: {
        keepalived1s: slow!.moves,
        keepalived1sAdvertsLost: slow!.movesWithAdvertsLost,
        keepalived20ms: quick!.moves,
        keepalived20msAdvertsLost: quick!.movesWithAdvertsLost,
      },
      comparedWith: 'keepalived with adverts of 1 s and of 20 ms in the same noise',
      ratio: null,
      goal: `0 moves in 10 minutes with ${PERCENT} % loss on the control link and CPU hogs on both nodes`,
      pass: ours!.moves === 0,
      detail: {
        announcer,
        seconds: SECONDS,
        secondsWithAdvertsLost: Math.min(60, SECONDS),
        lostProbes: control.probes[0]!.lost,
        longestStallMs: control.probes[0]!.stallMs,
      },
    })
  } finally {
    for (const one of watchers) await one[Symbol.asyncDispose]()
  }
})
