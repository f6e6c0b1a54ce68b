/**
 * Requests a second through a Gateway with one route, and the slowest of a hundred, at few and at many kept-alive
 * connections, in turns with Envoy Gateway's Envoy. Both proxies have one thread.
 */
import { compile, LineProgram } from './bed/native.ts'
import { COMPARED_WITH, ENVOY, startEnvoyGateway } from './gateway/envoy-gateway.ts'
import { PORT, SPOUT, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createGateway, createRoute, toService } from './gateway/objects.ts'
import { wrk } from './gateway/wrk.ts'
import { median, pairedRatio } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = 2
const options = benchOptions()
const CONNECTIONS = [16, 512] as const
const ROUNDS = options.quick ? 3 : 9
const SECONDS = options.quick ? 2 : 5
const HOST = 'bench'

await withGateways(async (bed) => {
  const { lab, cluster } = bed
  const { api } = cluster
  await createBackend(api, 'backend')
  const ours = await startGateway(bed, SPOUT.name)
  const peer = await startEnvoyGateway(bed)
  await createGateway(api, { name: ENVOY.name, namespace: 'default', gatewayClass: ENVOY.gatewayClass, port: PORT })
  const ways = [
    [SPOUT.name, ours],
    [ENVOY.name, peer],
  ] as const
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  for (const [gateway, address] of ways) {
    await createRoute(api, { name: gateway, gateway, hostname: HOST, rules: toService('backend') })
    const answered = async () => !(await prober.ask(`${address} ${PORT} ${HOST}`)).startsWith('-1')
    if (!((await answered()) || (await answered()))) throw new Error(`${gateway} never answered`)
  }
  const ratios: number[] = []
  const figures: Record<'ours' | 'peer', Record<string, number>> = { ours: {}, peer: {} }
  for (const connections of CONNECTIONS) {
    const rates = { spout: [] as number[], envoy: [] as number[] }
    const p99s = { spout: [] as number[], envoy: [] as number[] }
    // The first round is not counted.
    for (let round = 0; round <= ROUNDS; round++)
      for (const [way, address] of round % 2 === 0 ? ways : ways.toReversed()) {
        const { perSecond, p99Ms } = await wrk(lab, `http://${address}:${PORT}/`, {
          connections,
          seconds: SECONDS,
          host: HOST,
        })
        if (round === 0) continue
        rates[way].push(perSecond)
        p99s[way].push(p99Ms)
      }
    ratios.push(pairedRatio(rates.spout, rates.envoy))
    for (const [way, into] of [
      ['spout', figures.ours],
      ['envoy', figures.peer],
    ] as const) {
      into[`perSecondAt${connections}`] = median(rates[way])
      into[`p99MsAt${connections}`] = median(p99s[way])
    }
  }
  const ratio = Math.min(...ratios)
  printRow(
    {
      name: 'gateway-traffic',
      ...figures,
      comparedWith: COMPARED_WITH,
      ratio,
      goal: `>= ${GOAL} of its requests a second, at ${CONNECTIONS.join(' and at ')} connections`,
      pass: ratio >= GOAL,
      detail: { rounds: ROUNDS, ...Object.fromEntries(CONNECTIONS.map((n, at) => [`ratioAt${n}`, ratios[at] ?? 0])) },
    },
    options,
  )
})
