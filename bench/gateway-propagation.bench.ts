/**
 * A route to its first 200, one route after the other, as the probe of gateway-api-bench measures it: from the API
 * server's answer to the creation of an HTTPRoute, until a client that asks all the time reads a 200 by it. Any other
 * answer than 404 before is an error. Each Gateway has as many routes as were made before.
 */
import { compile, LineProgram } from './bed/native.ts'
import { cpuOf, PORT, SPOUT, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createProbeRoute, createProbeRoutes, placeOf } from './gateway/objects.ts'
import type { ConnectedCluster } from './kubernetes/connected-cluster.ts'
import { distribution, percentile, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { p50Ms: 30, p99Ms: 100 }
const options = benchOptions()
/** Routes that are measured one by one from none on, and how many more at each of these numbers of routes. */
const FROM_NONE = options.quick ? 50 : 3_000
const [AT, MORE] = options.quick ? [500, 30] : [4_900, 90]
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
): Promise<Readonly<Record<'growing' | 'many', Samples>> & { readonly cost: Cost }> {
  const none = (): Samples => ({ servedMs: [], fromRequestMs: [], errors: 0 })
  const [growing, many] = [none(), none()]
  const first = WARM_UP + FROM_NONE
  for (let n = 0; n < first; n++) await sample(probed, n, n < WARM_UP ? null : growing)
  await fill(probed, first, AT)
  const before = cpuOf(probed.bed)
  for (let n = AT; n < AT + MORE; n++) await sample(probed, n, many)
  const after = cpuOf(probed.bed)
  const parts = Object.keys(after) as (keyof typeof after)[]
  const cost = Object.fromEntries(
    parts.map((part) => [`${part}MsARoute`, ((after[part] - before[part]) * 1000) / MORE]),
  )
  return { growing, many, cost }
}

await withGateways(async (bed) => {
  const { lab, cluster } = bed
  await createBackend(cluster.api, 'backend')
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  const address = await startGateway(bed, SPOUT.name)
  const { growing, many, cost } = await measure({ bed, prober, gateway: SPOUT.name, address })
  const all = [...growing.servedMs, ...many.servedMs]
  const errors = growing.errors + many.errors
  const ours = { ...spread(all), errors }
  const worst = spread(many.servedMs)
  printRow(
    {
      name: 'gateway-propagation',
      ours,
      peer: null,
      comparedWith: 'nothing yet',
      ratio: null,
      goal: `one by one up to 3000 routes and at 5000: p50 <= ${GOAL.p50Ms} ms, p99 <= ${GOAL.p99Ms} ms from the API server's answer to the first 200, 0 other answers than 404 before`,
      pass: [ours, worst].every(({ p50Ms, p99Ms }) => p50Ms <= GOAL.p50Ms && p99Ms <= GOAL.p99Ms) && errors === 0,
      detail: {
        oneByOneUpTo: FROM_NONE,
        manyRoutes: AT,
        atManyP50Ms: worst.p50Ms,
        atManyP99Ms: worst.p99Ms,
        fromRequestP50Ms: percentile([...growing.fromRequestMs, ...many.fromRequestMs], 0.5),
        ...cost,
        backend: 'two filters each, and a second rule to a Service that does not exist',
      },
      distributions: { 'one by one': distribution(growing.servedMs), 'at many': distribution(many.servedMs) },
    },
    options,
  )
})
