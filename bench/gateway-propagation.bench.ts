/**
 * A route to its first 200, one route after the other, as the probe of gateway-api-bench measures it: from the API
 * server's answer to the creation of an HTTPRoute, until a client that asks all the time reads a 200 by it. Any other
 * answer than 404 before is an error. Each Gateway has as many routes as were made before.
 */
import { compile, LineProgram } from './bed/native.ts'
import { COMPARED_AFTER, ENVOY, peerInstead } from './gateway/envoy-gateway.ts'
import { cpuOf, PORT, SPOUT, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createProbeRoute, createProbeRoutes, placeOf } from './gateway/objects.ts'
import type { ConnectedCluster } from './kubernetes/connected-cluster.ts'
import { distribution, percentile, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { p50Ms: 30, p99Ms: 100 }
const options = benchOptions()
/** What is measured of a side. */
interface Extent {
  /** Routes that are measured one by one from none on. */
  readonly fromNone: number
  /** A number of routes that it has then, and how many more are measured. */
  readonly at: number
  readonly more: number
}

const OURS: Extent = options.quick ? { fromNone: 50, at: 500, more: 30 } : { fromNone: 3_000, at: 4_900, more: 90 }
/** It takes seconds for a route when it has many. */
const PEERS: Extent = options.quick ? { fromNone: 20, at: 200, more: 10 } : { fromNone: 300, at: 4_900, more: 20 }
/** Not counted: at first the code is not compiled yet. */
const WARM_UP = 20

interface Samples {
  readonly servedMs: number[]
  readonly fromRequestMs: number[]
  errors: number
}

/** Processor time that a route takes in each part, in ms. */
type Cost = Readonly<Record<string, number>>

interface Probed {
  readonly bed: ConnectedCluster
  readonly prober: LineProgram
  readonly gateway: string
  readonly address: string
  /** Processor seconds of each part so far. */
  readonly cpu: () => Readonly<Record<string, number>>
}

/** Makes route number n and adds what the client saw of it. */
async function sample({ bed, prober, gateway, address }: Probed, n: number, into: Samples | null): Promise<void> {
  const { hostname, path } = placeOf(n)
  const answer = prober.ask(`${address} ${PORT} ${hostname} ${path}`)
  const startedNs = process.hrtime.bigint()
  await createProbeRoute(bed.cluster.api, gateway, n)
  const answeredNs = process.hrtime.bigint()
  const [servedNs = '-1', , wrong = '0'] = (await answer).split(' ')
  if (servedNs === '-1') throw new Error(`${hostname} was never served by ${gateway}`)
  if (into === null) return
  into.servedMs.push(Math.max(0, Number(BigInt(servedNs) - answeredNs) / 1e6))
  into.fromRequestMs.push(Number(BigInt(servedNs) - startedNs) / 1e6)
  into.errors += Number(wrong)
}

/** Fills a Gateway up to this number of routes; resolves once the last of them answers. */
async function fill({ bed, prober, gateway, address }: Probed, from: number, to: number): Promise<void> {
  await createProbeRoutes(bed.cluster.api, gateway, from, to)
  for (const n of [from, to - 1]) {
    const { hostname, path } = placeOf(n)
    while ((await prober.ask(`${address} ${PORT} ${hostname} ${path}`)).startsWith('-1'));
  }
}

async function measure(
  probed: Probed,
  { fromNone, at, more }: Extent,
): Promise<Readonly<Record<'growing' | 'many', Samples>> & { readonly cost: Cost }> {
  const none = (): Samples => ({ servedMs: [], fromRequestMs: [], errors: 0 })
  const [growing, many] = [none(), none()]
  const first = WARM_UP + fromNone
  for (let n = 0; n < first; n++) await sample(probed, n, n < WARM_UP ? null : growing)
  await fill(probed, first, at)
  const before = probed.cpu()
  for (let n = at; n < at + more; n++) await sample(probed, n, many)
  const cost = Object.fromEntries(
    Object.entries(probed.cpu()).map(([part, seconds]) => [
      `${part}MsARoute`,
      ((seconds - (before[part] ?? 0)) * 1000) / more,
    ]),
  )
  return { growing, many, cost }
}

await withGateways(async (bed) => {
  const { lab, cluster } = bed
  await createBackend(cluster.api, 'backend')
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  const address = await startGateway(bed, SPOUT.name)
  const { growing, many, cost } = await measure(
    { bed, prober, gateway: SPOUT.name, address, cpu: () => cpuOf(bed) },
    OURS,
  )
  const instead = await peerInstead(bed, prober)
  const others = await measure({ bed, prober, gateway: ENVOY.name, address: instead, cpu: () => ({}) }, PEERS)
  const ours = { ...spread([...growing.servedMs, ...many.servedMs]), errors: growing.errors + many.errors }
  const peer = {
    ...spread([...others.growing.servedMs, ...others.many.servedMs]),
    errors: others.growing.errors + others.many.errors,
  }
  const worst = spread(many.servedMs)
  const ratio = percentile(growing.servedMs, 0.5) / percentile(others.growing.servedMs, 0.5)
  printRow(
    {
      ...{ name: 'gateway-propagation', ours, peer, comparedWith: COMPARED_AFTER, ratio },
      goal: `one by one up to 3000 routes and at 5000: p50 <= ${GOAL.p50Ms} ms, p99 <= ${GOAL.p99Ms} ms from the API server's answer to the first 200, 0 other answers than 404 before; ahead of the peer`,
      pass:
        [ours, worst].every(({ p50Ms, p99Ms }) => p50Ms <= GOAL.p50Ms && p99Ms <= GOAL.p99Ms) &&
        ours.errors === 0 &&
        ratio < 1,
      detail: {
        oneByOneUpTo: OURS.fromNone,
        manyRoutes: OURS.at,
        atManyP50Ms: worst.p50Ms,
        atManyP99Ms: worst.p99Ms,
        fromRequestP50Ms: percentile([...growing.fromRequestMs, ...many.fromRequestMs], 0.5),
        ...cost,
        peerOneByOneUpTo: PEERS.fromNone,
        peerManyRoutes: PEERS.at,
        peerAtManyP50Ms: percentile(others.many.servedMs, 0.5),
        backend: 'two filters each, and a second rule to a Service that does not exist',
      },
      distributions: {
        'one by one': distribution(growing.servedMs),
        'at many': distribution(many.servedMs),
        'peer, one by one': distribution(others.growing.servedMs),
        'peer, at many': distribution(others.many.servedMs),
      },
    },
    options,
  )
})
