/**
 * A route is edited again and again, each time to another Service and another header, while kept-alive clients ask for
 * it: from the API server's answer until a client reads the answer of the new Service. Every answer but a 200 is wrong.
 */
import { FAST_PORTS } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { PORT, SPOUT, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createRoute, HTTP_ROUTES } from './gateway/objects.ts'
import { distribution, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const options = benchOptions()
const EDITS = options.quick ? 40 : 200
const CLIENTS = 8
const HOST = 'bench'

/** Edit number n: the Service and a header alternate. */
const rulesOf = (n: number): readonly object[] => [
  {
    filters: [
      {
        type: 'RequestHeaderModifier',
        requestHeaderModifier: { set: [{ name: 'x-edit', value: String(n) }] },
      },
    ],
    backendRefs: [{ name: `web-${n % 2}`, port: 80 }],
  },
]

await withGateways(async (bed) => {
  const { lab, cluster } = bed
  const { api } = cluster
  for (const n of [0, 1]) await createBackend(api, `web-${n}`, { port: FAST_PORTS.first + n })
  const address = await startGateway(bed, SPOUT.name)
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  const answered = (n: number) => prober.ask(`${address} ${PORT} ${HOST} / ${FAST_PORTS.first + (n % 2)}`)
  const name = 'edited'
  await createRoute(api, { name, gateway: SPOUT.name, hostname: HOST, rules: rulesOf(0) })
  await answered(0)
  const argv = [await compile(lab, 'keep-alive-clients'), address, PORT, CLIENTS].map(String)
  await using clients = new LineProgram(lab, 'client', argv)
  const servedMs: number[] = []
  for (let n = 1; n <= EDITS; n++) {
    await api.patch(`${HTTP_ROUTES()}/${name}`, { spec: { rules: rulesOf(n) } })
    const editedNs = process.hrtime.bigint()
    const [servedNs = '-1'] = (await answered(n)).split(' ')
    if (servedNs === '-1') throw new Error(`edit ${n} was never served`)
    servedMs.push(Number(BigInt(servedNs) - editedNs) / 1e6)
  }
  const [requests = 0, failed = Number.NaN, reconnects = 0] = (await clients.finish()).split(' ').map(Number)
  printRow(
    {
      name: 'gateway-route-change',
      ours: { wrongAnswers: failed, ...spread(servedMs) },
      peer: null,
      comparedWith: 'nothing yet',
      ratio: null,
      goal: 'a route edited 200 times under load: 0 answers that are not 200',
      pass: failed === 0 && requests > 0,
      detail: { edits: EDITS, clients: CLIENTS, requests, reconnects },
      distributions: { 'edit to its first answer': distribution(servedMs) },
    },
    options,
  )
})
