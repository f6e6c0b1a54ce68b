/**
 * Bulk TCP and new connections to pods in the cluster that Spout serves (return path `node`), beside MetalLB and kube-proxy
 * on the same nodes: one hop, where the node that has the address has the pod (externalTrafficPolicy Local), and two, where
 * the other node has it (Cluster). Client, router and pods are the same; the rounds take turns.
 */
import { FAST_PORTS, type PlaceName, startFastMember } from '@spout/testkit'
import type { InClusterLab } from '../e2e/kubernetes/in-cluster-lab.ts'
import { bulkTransfer } from './bed/load.ts'
import { compile } from './bed/native.ts'
import { COMPARED_WITH, installSpout, startPods, withMetallbInCluster } from './kubernetes/beside-metallb.ts'
import { createWays, WAYS, type Way } from './kubernetes/in-cluster-ways.ts'
import { median, pairedRatio, percentile } from './percentile.ts'
import { type BenchRow, benchOptions, isWanted, printRow } from './row.ts'

const options = benchOptions()
const ROUNDS = options.quick ? 3 : 21
const SECONDS = 1
const CONNECTS = 3000
const GOAL = { throughput: 1, connect: 1 }
const FAST_PORT = FAST_PORTS.first
/** A server for each way: it takes one client at a time, and ends a transfer a moment after its client. */
const bulkPort = (way: Way): number => 5201 + WAYS.indexOf(way)
const DIRECTIONS = ['from client', 'to client'] as const

type Samples = Readonly<Record<Way, number[]>>
/** Ours, and the same hops of the peer. */
const PAIRS: readonly (readonly [Way, Way])[] = [
  ['here', 'peer here'],
  ['elsewhere', 'peer elsewhere'],
]

async function startServers({ lab }: InClusterLab, pods: Iterable<PlaceName>): Promise<void> {
  for (const pod of pods) {
    await startFastMember(lab, pod, { count: 1 })
    for (const port of WAYS.map(bulkPort))
      await lab.start(pod, `iperf3-${pod}-${port}`, ['iperf3', '-s', '-p', String(port)])
  }
}

const noSamples = () => Object.fromEntries(WAYS.map((way) => [way, [] as number[]])) as Record<Way, number[]>

/** Measures each way in turn, `ROUNDS` times; each round begins with another one. @returns the figures, and others beside them */
async function rounds(
  measure: (way: Way) => Promise<readonly [figure: number, beside: number]>,
): Promise<readonly [Samples, Samples]> {
  const [samples, besides] = [noSamples(), noSamples()]
  for (let round = 0; round < ROUNDS; round++)
    for (let turn = 0; turn < WAYS.length; turn++) {
      const way = WAYS[(round + turn) % WAYS.length] ?? 'here'
      const [figure, beside] = await measure(way)
      samples[way].push(figure)
      besides[way].push(beside)
    }
  return [samples, besides]
}

type Figures = Readonly<Record<string, number>>
const medians = (samples: Samples, ways: readonly Way[], unit: string): Figures =>
  Object.fromEntries(ways.map((way) => [`${way} ${unit}`, median(samples[way])]))
const ratiosOf = (samples: Samples, of: string): Figures =>
  Object.fromEntries(PAIRS.map(([ours, peer]) => [`${ours}${of}`, pairedRatio(samples[ours], samples[peer])]))
/** What is not part of a goal. */
const moreRatios = (samples: Samples, of: string): Figures => ({
  [`former, of here${of}`]: pairedRatio(samples.former, samples.here),
  [`elsewhere, of the peer's here${of}`]: pairedRatio(samples.elsewhere, samples['peer here']),
  [`here, of the peer's Cluster${of}`]: pairedRatio(samples.here, samples['peer Cluster here']),
})
const OURS: readonly Way[] = ['here', 'elsewhere', 'former']
const PEERS: readonly Way[] = ['peer here', 'peer elsewhere', 'peer Cluster here']

async function throughput(lab: InClusterLab, ways: Readonly<Record<Way, string>>): Promise<BenchRow> {
  const found: { ours: Figures; peer: Figures; ratios: Figures; more: Figures } = {
    ours: {},
    peer: {},
    ratios: {},
    more: {},
  }
  for (const direction of DIRECTIONS) {
    const [samples, perCpu] = await rounds(async (way) => {
      const bulk = await bulkTransfer(lab.lab, ways[way], bulkPort(way), SECONDS, direction)
      return [bulk.gigabitsPerSecond, bulk.gigabitsPerCpuSecond]
    })
    Object.assign(found.ours, medians(samples, OURS, `${direction}, Gbit/s`))
    Object.assign(found.peer, medians(samples, PEERS, `${direction}, Gbit/s`))
    Object.assign(found.ratios, ratiosOf(samples, ` ${direction}`))
    Object.assign(found.more, moreRatios(samples, ` ${direction}`))
    Object.assign(found.more, ratiosOf(perCpu, ` ${direction}, by processor time`))
  }
  const { ours, peer, ratios, more } = found
  const ratio = Math.min(...Object.values(ratios))
  return {
    ...{ name: 'in-cluster-throughput', ours, peer, comparedWith: COMPARED_WITH, ratio },
    goal: `>= ${GOAL.throughput} of it in either direction, with one hop (policy Local) and with two (Cluster); medians of the rounds' ratios, the worst`,
    pass: ratio >= GOAL.throughput,
    detail: { rounds: ROUNDS, ...ratios, ...more },
  }
}

async function connects(lab: InClusterLab, ways: Readonly<Record<Way, string>>): Promise<BenchRow> {
  const program = await compile(lab.lab, 'connect-rate')
  const [samples, p99] = await rounds(async (way) => {
    const said = await lab.lab.must('client', [program, String(CONNECTS), String(FAST_PORT), ways[way]])
    const us = said
      .split('\n')
      .filter(Boolean)
      .map((ns) => Number(ns) / 1000)
    if (us.some((one) => one < 0)) throw new Error(`${way}: a connect failed`)
    return [median(us), percentile(us, 0.99)]
  })
  const ratios = ratiosOf(samples, '')
  const ratio = Math.max(...Object.values(ratios))
  return {
    ...{ name: 'in-cluster-connect', comparedWith: COMPARED_WITH, ratio },
    ours: medians(samples, OURS, 'p50 us'),
    peer: medians(samples, PEERS, 'p50 us'),
    goal: `connect p50 <= ${GOAL.connect} of it, with one hop (policy Local) and with two (Cluster); medians of the rounds' ratios, the worst`,
    pass: ratio <= GOAL.connect,
    detail: {
      rounds: ROUNDS,
      connectsPerRound: CONNECTS,
      ...ratios,
      ...moreRatios(samples, ''),
      ...medians(p99, WAYS, 'p99 us'),
    },
  }
}

await withMetallbInCluster(async (lab) => {
  const pods = await startPods(lab)
  await startServers(lab, pods.values())
  await installSpout(lab)
  const ways = await createWays(lab, [FAST_PORT, ...WAYS.map(bulkPort)])
  if (isWanted('in-cluster-connect', options)) printRow(await connects(lab, ways), options)
  if (isWanted('in-cluster-throughput', options)) printRow(await throughput(lab, ways), options)
})
