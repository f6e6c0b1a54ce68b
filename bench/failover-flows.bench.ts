/**
 * 1,000 idle and 100 busy TCP connections through the node that loses its power. Which side speaks first afterwards
 * decides which packet the other node sees first, so both orders are done; asymmetric is BGP, where the router sends
 * requests to every node and one of them has the members' gateway address. With `dsr` no node is on the way back.
 * Beside: keepalived in front of DNAT and masquerade.
 */
import type { Tenant } from '@spout/testkit'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { announceBy, createRoutedPool, peerWithRouter, SPOUT_NEIGHBOURS } from './failover/announce.ts'
import { startBirdRouter } from './failover/bird.ts'
import { directPair } from './failover/direct-return.ts'
import { FaultMaker } from './failover/faults.ts'
import { KeepalivedPair } from './failover/keepalived-pair.ts'
import { Watchers } from './failover/measure-faults.ts'
import { EchoMembers, type FlowResult } from './failover/observers.ts'
import type { Pair } from './failover/pair.ts'
import { finish } from './failover/results.ts'
import { only, options } from './failover/settings.ts'
import { SpoutPair } from './failover/spout-pair.ts'

const ORDERS = ['client first', 'member first'] as const
type Order = (typeof ORDERS)[number]
const RUNS = Number(process.env['SPOUT_BENCH_RUNS'] ?? (options.quick ? 2 : 20))
const ARRANGEMENTS = ['gateway', 'asymmetric', 'snat', 'dsr', 'peer'] as const
const GOAL = 0.999

const results = new Map<string, FlowResult[]>()
let openedAgain = 0

async function outlive(
  bed: SpoutBed,
  name: string,
  pair: Pair,
  members: EchoMembers,
  orders: readonly Order[],
): Promise<void> {
  const { lab } = bed
  await using faults = await FaultMaker.start(lab)
  await using watchers = await Watchers.start(lab, pair, { flows: true, workers: false })
  for (const order of orders)
    for (let run = 0; run < RUNS; run++) {
      const carrier = await watchers.carrier()
      const { flows } = await watchers.see(async () => {
        const since = await faults.powerOff(carrier)
        await watchers.movedFrom(carrier)
        await watchers.prober.answeredAfter(since, pair.patienceMs)
        if (order === 'member first') {
          await members.push()
          await watchers.flows?.heard()
        }
        return since
      })
      const key = `${name}, ${order}`
      if (flows) results.set(key, [...(results.get(key) ?? []), flows])
      await faults.mend('power off', carrier)
      await pair.restore(carrier)
    }
  openedAgain += watchers.flows?.openedAgain ?? 0
}

const membersOf = (bed: SpoutBed, segment: string): Promise<EchoMembers> =>
  EchoMembers.start(bed.lab, [`${segment}-member1`, `${segment}-member2`])

const wanted = only('ARRANGEMENTS', ARRANGEMENTS)

if (wanted.some((one) => one !== 'asymmetric' && one !== 'dsr'))
  await withSpout({ members: false }, async (bed) => {
    const announcer = await announceBy(bed, 'vrrp')
    const ways: readonly ['gateway' | 'snat', Tenant, string][] = [
      ['gateway', bed.gateway, 'tenant-a'],
      ['snat', bed.snat, 'tenant-b'],
    ]
    for (const [name, tenant, segment] of ways)
      if (wanted.includes(name)) {
        await using members = await membersOf(bed, segment)
        const pair = await SpoutPair.create(bed, announcer, { tenant })
        await outlive(bed, `Spout ${name}`, pair, members, ORDERS)
      }
    if (!wanted.includes('peer')) return
    await using members = await membersOf(bed, 'tenant-a')
    const peer = await KeepalivedPair.start(bed.lab, {
      ...{ prefix: 'kaf', name: 'keepalived 20 ms', advertMs: 20, routerId: 202, index: 6 },
      vips: ['198.51.100.252'],
    })
    await outlive(bed, 'keepalived and masquerade', peer, members, ORDERS)
  })

if (wanted.includes('asymmetric') && process.env['SPOUT_BENCH_ANNOUNCER'] === undefined)
  await withSpout({ members: false }, async (bed) => {
    await startBirdRouter(bed.lab, SPOUT_NEIGHBOURS)
    const announcer = await announceBy(bed, 'bgp')
    await peerWithRouter(bed)
    const poolId = await createRoutedPool(bed)
    const ways: readonly ['gateway' | 'snat', Tenant, string][] = [
      ['gateway', bed.gateway, 'tenant-a'],
      ['snat', bed.snat, 'tenant-b'],
    ]
    for (const [name, tenant, segment] of ways) {
      await using members = await membersOf(bed, segment)
      const pair = await SpoutPair.create(bed, announcer, { tenant, poolId })
      await outlive(bed, `Spout ${name}, asymmetric (BGP)`, pair, members, ORDERS)
    }
  })

/** Members answer clients themselves: no node is on the way back, and none keeps state of a flow. */
async function direct(preferred: 'vrrp' | 'bgp'): Promise<void> {
  await withSpout({ members: false }, async (bed) => {
    await using members = await membersOf(bed, 'tenant-a')
    if (preferred === 'bgp') await startBirdRouter(bed.lab, SPOUT_NEIGHBOURS)
    const announcer = await announceBy(bed, preferred)
    if (preferred === 'bgp') await peerWithRouter(bed)
    const pair = await directPair(bed, announcer, preferred === 'bgp' ? await createRoutedPool(bed) : undefined)
    await outlive(bed, `Spout dsr${preferred === 'bgp' ? ', asymmetric (BGP)' : ''}`, pair, members, ORDERS)
  })
}

if (wanted.includes('dsr')) {
  await direct('vrrp')
  if (process.env['SPOUT_BENCH_ANNOUNCER'] === undefined) await direct('bgp')
}

/** The worst run of each arrangement, as a share of all its flows. */
const shares = Object.fromEntries(
  [...results].map(([key, runs]) => [key, Math.min(...runs.map(({ survived, of }) => survived / of))]),
)
const of = (ours: boolean) =>
  Object.fromEntries(Object.entries(shares).filter(([key]) => key.startsWith('Spout') === ours))
const worst = Math.min(...Object.values(of(true)))
finish({
  name: 'failover-flows',
  ours: of(true),
  peer: of(false),
  comparedWith: 'keepalived with adverts of 20 ms in front of DNAT and masquerade',
  ratio: null,
  goal: `>= ${100 * GOAL} % of 1,100 flows live on in each arrangement and order (worst run)`,
  pass: worst >= GOAL,
  detail: {
    runs: RUNS,
    openedAgain,
    ...Object.fromEntries(
      [...results].map(([key, runs]) => [
        `${key}: reset, hung, longest pause ms`,
        [
          runs.reduce((sum, { idle, busy }) => sum + idle.reset + busy.reset, 0),
          runs.reduce((sum, { idle, busy }) => sum + idle.hung + busy.hung, 0),
          Math.max(...runs.map(({ pauseMs }) => pauseMs)),
        ].join(' '),
      ]),
    ),
  },
})
