/**
 * The endpoint of a route's Service is replaced, one route after the other, while kept-alive clients ask for all of them:
 * from the watch event of the EndpointSlice until a client reads the new endpoint's answer. Every answer but a 200 is a
 * failure. The clients that ask without a pause stand for other machines, and get what processor time Spout leaves.
 */
import { FAST_PORTS, type Kubernetes } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { OtherMachines } from './bed/other-machines.ts'
import { PORT, SPOUT, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createRoute, SLICES_OF, sliceBody, toService } from './gateway/objects.ts'
import { CommitTimes } from './kubernetes/commit-times.ts'
import { forEachNumber } from './kubernetes/objects.ts'
import { distribution, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 50
const options = benchOptions()
const ROUTES = options.quick ? 50 : 500
const CLIENTS = 8
/** Not counted: at first the code is not compiled yet. */
const WARM_UP = 10
const hostOf = (n: number): string => `r${n}.example.com`

using others = await OtherMachines.create()
await withGateways(async (bed) => {
  const { lab, cluster } = bed
  const { api } = cluster
  const address = await startGateway(bed, SPOUT.name)
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  const answers = (n: number, port: number) => prober.ask(`${address} ${PORT} ${hostOf(n)} / ${port}`)
  await forEachNumber(0, ROUTES, async (n) => {
    await createBackend(api, `web-${n}`)
    await createRoute(api, { name: `web-${n}`, gateway: SPOUT.name, hostname: hostOf(n), rules: toService(`web-${n}`) })
  })
  for (let n = 0; n < ROUTES; n++) while ((await answers(n, FAST_PORTS.first)).startsWith('-1'));
  using commits = await CommitTimes.watch(api, SLICES_OF())
  const program = await compile(lab, 'keep-alive-clients')
  const argv = [...others.prefix, program, address, PORT, CLIENTS, ROUTES].map(String)
  await using clients = new LineProgram(lab, 'client', argv)
  const servedMs: number[] = []
  for (let turn = 0; turn < WARM_UP + ROUTES; turn++) {
    const n = turn % ROUTES
    const port = FAST_PORTS.first + 1 + Math.floor(turn / ROUTES)
    const written = await api.patch<Kubernetes.KubernetesObject>(
      `${SLICES_OF()}/web-${n}-a`,
      sliceBody(`web-${n}`, port),
    )
    const toldNs = await commits.of(written)
    const [servedNs = '-1'] = (await answers(n, port)).split(' ')
    if (servedNs === '-1') throw new Error(`the new endpoint of ${hostOf(n)} never answered`)
    if (turn >= WARM_UP) servedMs.push(Math.max(0, Number(BigInt(servedNs) - toldNs) / 1e6))
  }
  const [requests = 0, failed = Number.NaN, reconnects = 0] = (await clients.finish()).split(' ').map(Number)
  const figures = spread(servedMs)
  printRow(
    {
      name: 'gateway-endpoints',
      ours: { ...figures, failed },
      peer: null,
      comparedWith: 'nothing yet',
      ratio: null,
      goal: `endpoints of 500 routes replaced under load: 0 failed requests, p99 <= ${GOAL_MS} ms after the EndpointSlice`,
      pass: failed === 0 && figures.p99Ms <= GOAL_MS,
      detail: { routes: ROUTES, clients: CLIENTS, requests, reconnects },
      distributions: { 'slice to its first answer': distribution(servedMs) },
    },
    options,
  )
})
