/**
 * Spout's memory: an empty control plane, an agent, a tenant with its own proxy, and a shared L4 listener, including
 * the kernel's part.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { memberAddress } from '@spout/testkit'
import { Filler } from './bed/fill.ts'
import { MemoryGroup } from './bed/memory-group.ts'
import { createTree, untilActive } from './bed/octavia.ts'
import { descendants, proportionalMb, proxyProcesses, residentMb } from './bed/processes.ts'
import { withSpout } from './bed/spout-bed.ts'
import { type BenchRow, benchOptions, printRow } from './row.ts'

const NODE = 'node1'
const options = benchOptions()
const [FEW, MANY] = options.quick ? [300, 1300] : [1000, 4000]
/** Until garbage of the start is collected, and the allocator has returned what it does not need. */
const SETTLE_MS = 3000
/** V8 compacts an idle heap only after several seconds. */
const SETTLE_FILLED_MS = 12_000

function row(name: string, ours: BenchRow['ours'], goal: string, pass: boolean, detail: BenchRow['detail'] = {}): void {
  printRow(
    { name, ours, peer: null, comparedWith: 'nothing: the bound is absolute', ratio: null, goal, pass, detail },
    options,
  )
}

const BED = { nodes: [NODE], members: false } as const

// Sources that changed since the last start are compiled at the next one, which alone takes 25 MB, and parts that it
// did not reach at the one after.
for (let start = 0; start < 2; start++) await withSpout(BED, () => pause(SETTLE_MS))

await withSpout(BED, async (bed) => {
  const { lab, access, publicPoolId, snat } = bed
  const pidOf = (name: string): number => {
    const found = lab.process(name)
    if (found === null) throw new Error(`${name} does not run`)
    return found.pid
  }
  const [controlPlane, agent] = [pidOf('control-plane'), pidOf(`agent-${NODE}`)]
  await pause(SETTLE_MS)
  const helpers = descendants(agent)
  const controlPlaneMb = residentMb(controlPlane)
  row('memory-control-plane', { rssMb: controlPlaneMb }, 'empty control plane <= 120 MB RSS', controlPlaneMb <= 120)
  const agentMb = residentMb(agent)
  const helperMb = helpers.reduce((sum, pid) => sum + residentMb(pid), 0)
  row('memory-agent', { rssMb: agentMb }, 'agent <= 80 MB RSS', agentMb <= 80, { helperRssMb: helperMb })

  const members = [0, 1].map((index) => ({ address: memberAddress(index), protocol_port: 8080 }))
  using group = new MemoryGroup(`spout-bench-${lab.id}`)
  group.join([agent, ...helpers])
  const emptyBytes = group.kernelBytes
  const web = await createTree(access, snat, { name: 'web', networkId: publicPoolId, protocol: 'HTTP', members })
  await untilActive(access, snat, web.id)
  await pause(SETTLE_MS)
  const proxies = (await proxyProcesses(lab)).map((process) => Number.parseInt(process, 10))
  const proxyMb = proxies.reduce((sum, pid) => sum + proportionalMb(pid), 0)
  const namespaceMb = (group.kernelBytes - emptyBytes) / 2 ** 20
  row(
    'memory-tenant',
    { pssMb: proxyMb + namespaceMb },
    'isolated tenant (its HAProxy and namespace) <= 8 MB PSS',
    proxies.length > 0 && proxyMb + namespaceMb <= 8,
    { proxyPssMb: proxyMb, proxies: proxies.length, kernelMb: namespaceMb },
  )

  const filler = await Filler.create(bed)
  const filledTo = async (count: number) => {
    await filler.fillTo(count)
    await pause(SETTLE_FILLED_MS)
    return { agentBytes: residentMb(agent) * 2 ** 20, kernelBytes: group.kernelBytes }
  }
  const before = await filledTo(FEW)
  const after = await filledTo(MANY)
  const perListener = (field: keyof typeof after): number => (after[field] - before[field]) / (MANY - FEW) / 1000
  const [agentKb, kernelKb] = [perListener('agentBytes'), perListener('kernelBytes')]
  row(
    'memory-listener',
    { kB: agentKb + kernelKb },
    'shared L4 listener <= 25 kB (agent and kernel)',
    kernelKb > 0 && agentKb + kernelKb <= 25,
    { agentKb, kernelKb, from: FEW, to: MANY, slots: 64, agentRssMb: residentMb(agent) },
  )
})
