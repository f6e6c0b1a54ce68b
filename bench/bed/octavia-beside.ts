import { randomUUID } from 'node:crypto'
import { callApi, createTenant, Lab, startControlPlane } from '@spout/testkit'
import { startOctaviaServer } from '@spout/testkit/octavia-server'
import { median, pairedRatio } from '../percentile.ts'
import type { BenchOptions } from '../row.ts'
import { widePool } from './fill.ts'
import { cpuSeconds, untilIdle } from './processes.ts'
import { type Load, type LoadResult, load } from './wrk.ts'

/** One of two servers of the Octavia API. */
export interface Side {
  readonly name: 'spout' | 'octavia-api'
  /** Before `/loadbalancers`. */
  readonly base: string
  /** Seconds of processor time that its processes have had. */
  readonly cpuSeconds: () => number
  readonly newProject: () => Promise<BenchProject>
}

/** A project of one side. */
export interface BenchProject {
  readonly id: string
  /** Make a request the project's. */
  readonly headers: Readonly<Record<string, string>>
  /** What is posted to create a load balancer with a VIP and nothing else. */
  readonly loadBalancer: { readonly loadbalancer: Readonly<Record<string, string>> }
}

export interface Beside {
  readonly lab: Lab
  readonly spout: Side
  readonly octavia: Side
}

/** The server is measured, not what one project may ask of it. */
const NO_LIMITS = ['limits.requestsPerSecond=1000000', 'limits.requestBurst=10000000']
const UNLIMITED = 1_000_000

/**
 * Spout's control plane and Debian's octavia-api on this machine, both with a durable database. Neither has a node: an
 * answer of Spout would wait for one, so it waits for none (`api.settleMs=0`).
 */
export async function withOctaviaBeside(work: (beside: Beside) => Promise<void>): Promise<void> {
  await using lab = await Lab.create()
  const access = await startControlPlane(lab, { set: [...NO_LIMITS, 'api.settleMs=0'] })
  const { endpoint, admin } = access
  const poolId = await widePool(access)
  const limits = { loadBalancers: UNLIMITED, addresses: UNLIMITED }
  const cpuOf = (names: readonly string[]) => (): number =>
    names.reduce((sum, name) => sum + cpuSeconds(lab.process(name)?.pid ?? Number.NaN), 0)
  let projects = 0
  const spout: Side = {
    name: 'spout',
    base: `${endpoint}/load-balancer/v2/lbaas`,
    cpuSeconds: cpuOf(['control-plane']),
    newProject: async () => {
      const project = `bench${++projects}`
      const spec = { project, user: project, password: 'in-the-lab', segment: project, returnPath: 'snat' } as const
      const { projectId, token } = await createTenant(access, spec)
      await callApi(endpoint, admin.token, 'PUT', `/projects/${projectId}/quota`, { limits })
      const loadBalancer = { loadbalancer: { name: 'bench', vip_network_id: poolId } }
      return { id: projectId, headers: { 'x-auth-token': token }, loadBalancer }
    },
  }
  const server = await startOctaviaServer(lab)
  const octavia: Side = {
    name: 'octavia-api',
    base: `${server.endpoint}/v2/lbaas`,
    cpuSeconds: cpuOf(server.processes),
    newProject: async () => {
      const id = randomUUID().replaceAll('-', '')
      const loadBalancer = { loadbalancer: { name: 'bench', vip_network_id: randomUUID(), project_id: id } }
      return { id, headers: server.as(id), loadBalancer }
    },
  }
  await work({ lab, spout, octavia })
}

export interface Ask extends Omit<Load, 'seconds'> {
  readonly side: Side
  /** Behind `base`. */
  readonly path: string
}

/** What both sides did in rounds that took turns. */
export interface Compared {
  readonly ours: Readonly<Record<string, number>>
  readonly peer: Readonly<Record<string, number>>
  /** Median of the rounds' own ratios of requests a second. */
  readonly ratio: number
  readonly detail: Readonly<Record<string, number | string>>
}

/** Octavia's answers take up to seconds, ours milliseconds. */
const SECONDS = { ours: 3, peer: 10 } as const

interface Round extends LoadResult {
  /** Processor time of an answer. */
  readonly cpuMs: number
}

/**
 * Ends when the side is idle: it goes on with what was under way when the time was over, and with 64 creates
 * octavia-api is busy for seconds. The other side would have half the machine meanwhile.
 */
async function ask(lab: Lab, { side, path, ...request }: Ask, seconds: number): Promise<Round> {
  const before = side.cpuSeconds()
  const result = await load(lab, `${side.base}${path}`, { ...request, seconds })
  const cpuMs = ((side.cpuSeconds() - before) * 1000) / (result.answered + result.failed)
  await untilIdle(side.cpuSeconds)
  return { ...result, cpuMs }
}

/**
 * Asks both in turns, one at a time. What is under way at octavia-api when its time is over counts for it as answered.
 * Processor time says more than requests a second where others use the machine, too.
 */
export async function compare(
  lab: Lab,
  asks: { readonly ours: Ask; readonly peer: Ask },
  { quick }: BenchOptions,
): Promise<Compared> {
  const rounds = quick ? 1 : 5
  const results: Readonly<Record<'ours' | 'peer', Round[]>> = { ours: [], peer: [] }
  // The code is compiled and the caches are filled.
  for (const side of ['ours', 'peer'] as const) await ask(lab, asks[side], SECONDS[side])
  for (let round = 0; round < rounds; round++)
    for (const side of ['ours', 'peer'] as const) results[side].push(await ask(lab, asks[side], SECONDS[side]))
  const underWay = asks.peer.connections / SECONDS.peer
  const rates = {
    ours: results.ours.map(({ perSecond }) => perSecond),
    peer: results.peer.map(({ perSecond }) => perSecond + underWay),
  }
  const each = (side: 'ours' | 'peer', figure: keyof Round): readonly number[] =>
    results[side].map((one) => one[figure])
  const figures = (side: 'ours' | 'peer') => ({
    perSecond: median(rates[side]),
    p50Ms: median(each(side, 'p50Ms')),
    p99Ms: median(each(side, 'p99Ms')),
    cpuMs: median(each(side, 'cpuMs')),
    failed: each(side, 'failed').reduce((sum, failed) => sum + failed, 0),
  })
  const range = (samples: readonly number[]): string =>
    `${Math.min(...samples).toFixed(1)}-${Math.max(...samples).toFixed(1)}`
  return {
    ours: figures('ours'),
    peer: figures('peer'),
    ratio: pairedRatio(rates.ours, rates.peer),
    detail: {
      rounds,
      ratioOfCpuMs: pairedRatio(each('ours', 'cpuMs'), each('peer', 'cpuMs')),
      oursPerSecond: range(rates.ours),
      peerPerSecond: range(rates.peer),
    },
  }
}
