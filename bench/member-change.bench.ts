/**
 * A PUT of a whole set of 160 members on a pool that carries traffic, until every node has confirmed it; half of the
 * members are replaced each time. Eight clients with kept-alive connections send requests meanwhile.
 */
import { FAST_PORTS, memberAddress, startFastMember, type Tenant } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { createTree, type Endpoint, octavia, untilActive } from './bed/octavia.ts'
import { proxyProcesses } from './bed/processes.ts'
import { type SpoutBed, withSpout } from './bed/spout-bed.ts'
import { percentile, spread } from './percentile.ts'
import { type BenchOptions, benchOptions, isWanted, printRow } from './row.ts'

const GOAL_MS = 100
const MEMBERS = 160
const CLIENTS = 8
/** Not counted, quick or not: at first the code is not compiled yet and the caches are empty. */
const WARM_UP_CHANGES = 100

/** 80 ports of two members; the sets of even and odd turns share one half. */
const memberSet = (turn: number): readonly Endpoint[] =>
  Array.from({ length: MEMBERS }, (_, n) => ({
    address: memberAddress(n % 2),
    protocol_port: FAST_PORTS.first + (turn % 2) * (MEMBERS / 4) + (n >> 1),
  }))

async function measure(
  { lab, access, publicPoolId }: SpoutBed,
  tenant: Tenant,
  protocol: 'HTTP' | 'TCP',
  options: BenchOptions,
): Promise<void> {
  const name = protocol === 'HTTP' ? 'member-change' : 'member-change-l4'
  if (!isWanted(name, options)) return
  const changes = options.quick ? 50 : 1000
  const created = await createTree(access, tenant, {
    name: 'bench',
    networkId: publicPoolId,
    protocol,
    members: memberSet(0),
  })
  await untilActive(access, tenant, created.id)
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  await prober.ask(`${created.vip_address} 80`)

  const before = await proxyProcesses(lab)
  const argv = [await compile(lab, 'keep-alive-clients'), created.vip_address, '80', String(CLIENTS)]
  await using clients = new LineProgram(lab, 'client', argv)
  const putMs: number[] = []
  const durations: number[] = []
  for (let turn = 1; turn <= WARM_UP_CHANGES + changes; turn++) {
    const started = performance.now()
    await octavia(access, tenant, 'PUT', `/pools/${created.pools[0]?.id}/members`, { members: memberSet(turn) })
    const putAt = performance.now()
    await untilActive(access, tenant, created.id)
    if (turn <= WARM_UP_CHANGES) continue
    putMs.push(putAt - started)
    durations.push(performance.now() - started)
  }
  const [requests = 0, failed = Number.NaN, reconnects = 0] = (await clients.finish()).split(' ').map(Number)
  const after = await proxyProcesses(lab)
  const replaced = after.filter((process) => !before.includes(process)).length

  const ours = { ...spread(durations), failedRequests: failed, reloads: replaced }
  printRow(
    {
      name,
      ours,
      peer: null,
      comparedWith: 'nothing: no peer does this here',
      ratio: null,
      goal: `p99 <= ${GOAL_MS} ms, 0 failed requests with ${CLIENTS} kept-alive clients during 1000 changes, 0 reloads`,
      pass: ours.p99Ms <= GOAL_MS && failed === 0 && replaced === 0,
      detail: {
        changes,
        warmUpChanges: WARM_UP_CHANGES,
        members: MEMBERS,
        protocol,
        putP50Ms: percentile(putMs, 0.5),
        requests,
        reconnects,
      },
    },
    options,
  )
}

const options = benchOptions()
await withSpout({ members: false }, async (bed) => {
  for (const tenant of ['tenant-a', 'tenant-b'])
    for (const n of [1, 2]) await startFastMember(bed.lab, `${tenant}-member${n}`)
  await measure(bed, bed.snat, 'HTTP', options)
  await measure(bed, bed.gateway, 'TCP', options)
})
