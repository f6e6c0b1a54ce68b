/**
 * A route is added to a listener that has 5,000, each for a host of its own: from the answer of the write until a client
 * reads the first 200 by it. Meanwhile eight clients with kept-alive connections ask for a host whose route is changed
 * each time from one pool to the other, so every answer but a 200 is wrong.
 */
import { callApi, FAST_PORTS, memberAddress, startFastMember, type Tenant } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { untilActive } from './bed/octavia.ts'
import { proxyProcesses } from './bed/processes.ts'
import { BEHIND_THE_WRITE, routeStages, STAGES, type StageTimes } from './bed/route-stages.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { distribution, median, pairedRatio, percentile, spread } from './percentile.ts'
import { benchOptions, isWanted, printRow } from './row.ts'

const GOAL = { p50Ms: 20, p99Ms: 60 }
const ROUTES = 5_000
const CLIENTS = 8
/** Not counted, quick or not: at first the code is not compiled yet. */
const WARM_UP = 20
/** Of the processor time that a change takes where nothing is known of the version before. */
const MOST_COST = 0.2
const options = benchOptions()
const CHANGES = options.quick ? 30 : 200

interface Sample {
  readonly writeMs: number
  readonly servedMs: number
}

const routeTo = (pool: string, host: string) => ({
  name: host,
  conditions: [{ on: 'host', compare: 'exact', values: [host] }],
  action: { type: 'forward', pools: [{ pool }] },
})

interface Balancer {
  readonly id: string
  readonly vips: readonly { readonly address: string }[]
  readonly listeners: readonly { readonly id: string; readonly routes: readonly { readonly id: string }[] }[]
}

const createBalancer = (call: Call, publicPoolId: string): Promise<Balancer> =>
  call('POST', '/load-balancers', {
    name: 'bench',
    vips: [{ from: 'pool', poolId: publicPoolId }],
    pools: ['one', 'other'].map((name, at) => ({
      name,
      protocol: 'http',
      members: [{ address: memberAddress(at), port: FAST_PORTS.first }],
    })),
    listeners: [
      {
        protocol: 'http',
        port: 80,
        routes: [
          routeTo('one', 'bench'),
          ...Array.from({ length: ROUTES - 1 }, (_, n) => routeTo('one', `host-${n}.example.com`)),
        ],
      },
    ],
  })

type Call = <T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) => Promise<T>

async function measure({ lab, access, publicPoolId }: SpoutBed, tenant: Tenant): Promise<void> {
  const call: Call = (method, path, body) => callApi(access.endpoint, tenant.token, method, path, body)
  const { id, vips, listeners } = await createBalancer(call, publicPoolId)
  const [{ address = '' } = {}] = vips
  const path = `/load-balancers/${id}/listeners/${listeners[0]!.id}/routes`
  const first = listeners[0]!.routes[0]!.id
  await untilActive(access, tenant, id)
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  await prober.ask(`${address} 80`)

  const before = await proxyProcesses(lab)
  const argv = [await compile(lab, 'keep-alive-clients'), address, '80', String(CLIENTS)]
  await using clients = new LineProgram(lab, 'client', argv)
  const samples: Sample[] = []
  for (let turn = 0; turn < WARM_UP + CHANGES; turn++) {
    const host = `new-${turn}.example.com`
    const place = turn % 2 === 0 ? {} : { before: first }
    const startedNs = process.hrtime.bigint()
    const added = await call<{ id: string }>('POST', path, { ...routeTo('one', host), ...place })
    const answeredNs = process.hrtime.bigint()
    const [servedNs = '-1'] = (await prober.ask(`${address} 80 ${host}`)).split(' ')
    if (servedNs === '-1') throw new Error(`${host} was never served`)
    if (turn >= WARM_UP)
      samples.push({
        writeMs: Number(answeredNs - startedNs) / 1e6,
        servedMs: Number(BigInt(servedNs) - answeredNs) / 1e6,
      })
    await call('PUT', `${path}/${first}`, routeTo(turn % 2 === 0 ? 'other' : 'one', 'bench'))
    await call('DELETE', `${path}/${added.id}`)
    await untilActive(access, tenant, id, 5)
  }
  const [requests = 0, failed = Number.NaN, reconnects = 0] = (await clients.finish()).split(' ').map(Number)
  const after = await proxyProcesses(lab)
  const reloads = after.filter((process) => !before.includes(process)).length

  const served = samples.map(({ servedMs }) => servedMs)
  const written = samples.map(({ writeMs }) => writeMs)
  const ours = { ...spread(served), wrongAnswers: failed, reloads }
  printRow(
    {
      name: 'route-change',
      ours,
      peer: null,
      comparedWith: 'nothing: no peer does this here',
      ratio: null,
      goal: `p50 <= ${GOAL.p50Ms} ms, p99 <= ${GOAL.p99Ms} ms from the answer of the write to the first right response, 0 wrong answers, 0 reloads`,
      pass: ours.p50Ms <= GOAL.p50Ms && ours.p99Ms <= GOAL.p99Ms && failed === 0 && reloads === 0,
      detail: {
        changes: CHANGES,
        routes: ROUTES,
        writeP50Ms: percentile(written, 0.5),
        writeP99Ms: percentile(written, 0.99),
        requests,
        reconnects,
      },
      distributions: { 'answer of the write to first response': distribution(served), write: distribution(written) },
    },
    options,
  )
}

/** The stages in turns, so that a slow phase of the machine is in both. */
async function measureCost(): Promise<void> {
  const [rounds, changes] = options.quick ? [1, 10] : [5, 30]
  const ours: StageTimes[] = []
  const peer: StageTimes[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await routeStages('before', ROUTES, changes))
    peer.push(await routeStages('scratch', ROUTES, changes))
  }
  const behind = (times: StageTimes): number => BEHIND_THE_WRITE.reduce((sum, stage) => sum + times[stage], 0)
  const ratio = pairedRatio(ours.map(behind), peer.map(behind))
  const medians = (all: readonly StageTimes[], suffix: string) =>
    Object.fromEntries(STAGES.map((stage) => [`${stage}${suffix}`, median(all.map((times) => times[stage]))]))
  printRow(
    {
      name: 'route-change-cost',
      ours: { cpuMs: median(ours.map(behind)) },
      peer: { cpuMs: median(peer.map(behind)) },
      comparedWith: 'the same stages without the version before',
      ratio,
      goal: `<= ${MOST_COST} of the processor time behind the answer of the write (${BEHIND_THE_WRITE.join(', ')})`,
      pass: ratio <= MOST_COST,
      detail: { routes: ROUTES, rounds, ...medians(ours, 'Ms'), ...medians(peer, 'ScratchMs') },
    },
    options,
  )
}

if (isWanted('route-change-cost', options)) await measureCost()
if (isWanted('route-change', options))
  await withSpout({ members: false }, async (bed) => {
    for (const n of [1, 2]) await startFastMember(bed.lab, `tenant-b-member${n}`)
    await measure(bed, bed.snat)
  })
