/**
 * A control plane with 10,000 load balancers of 10 objects each, made by the Octavia API and carried by a node: its
 * memory, and how long it takes to start again.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { memberAddress, nodesInSync, startControlPlane } from '@spout/testkit'
import { widePool } from './bed/fill.ts'
import { type OctaviaLoadBalancer, octavia } from './bed/octavia.ts'
import { cpuSeconds, peakResidentMb, residentMb } from './bed/processes.ts'
import { withSpout } from './bed/spout-bed.ts'
import { median } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { rssMb: 400, startMs: 5000 } as const
const NODE = 'node1'
const PARALLEL = 16
/** V8 compacts an idle heap only after several seconds. */
const SETTLE_MS = 12_000
const options = benchOptions()
const COUNT = options.quick ? 1000 : 10_000
const STARTS = options.quick ? 1 : 3

/** With the load balancer itself ten objects: two listeners, two pools, four members, a monitor. */
const objects = (name: string, vipNetworkId: string) => ({
  loadbalancer: {
    name,
    vip_network_id: vipNetworkId,
    listeners: [80, 81].map((port) => ({
      ...{ name: `${name}-${port}`, protocol: 'TCP', protocol_port: port },
      default_pool: {
        ...{ name: `${name}-${port}`, protocol: 'TCP', lb_algorithm: 'ROUND_ROBIN' },
        members: [0, 1].map((index) => ({ address: memberAddress(index), protocol_port: 8000 + port })),
        ...(port === 80 && { healthmonitor: { type: 'TCP', delay: 60, timeout: 5, max_retries: 3 } }),
      },
    })),
  },
})

await withSpout({ nodes: [NODE], members: false }, async ({ lab, access, gateway }) => {
  const poolId = await widePool(access)
  let made = 0
  const worker = async () => {
    while (made < COUNT)
      await octavia<OctaviaLoadBalancer>(access, gateway, 'POST', '/loadbalancers', objects(`lb-${made++}`, poolId))
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  const fillSeconds = (performance.now() - started) / 1000
  await nodesInSync(access, 1)
  const controlPlane = () => {
    const found = lab.process('control-plane')
    if (found === null) throw new Error('the control plane does not run')
    return found
  }
  await pause(SETTLE_MS)
  const filled = { rssMb: residentMb(controlPlane().pid), peakMb: peakResidentMb(controlPlane().pid) }

  const startMs: number[] = []
  const startCpuMs: number[] = []
  const restarted: number[] = []
  for (let n = 0; n < STARTS; n++) {
    await lab.stop(controlPlane())
    const before = performance.now()
    const again = await startControlPlane(lab)
    startMs.push(performance.now() - before)
    startCpuMs.push(cpuSeconds(controlPlane().pid) * 1000)
    await nodesInSync(again, 1)
    await pause(SETTLE_MS)
    restarted.push(residentMb(controlPlane().pid))
  }
  const rssMb = Math.max(filled.rssMb, ...restarted)
  printRow(
    {
      name: 'api-memory',
      ours: { rssMb, startMs: median(startMs) },
      peer: null,
      comparedWith: 'nothing: the bounds are absolute',
      ratio: null,
      goal: `10,000 load balancers of 10 objects each: <= ${GOAL.rssMb} MB RSS, start <= ${GOAL.startMs} ms`,
      pass: rssMb <= GOAL.rssMb && median(startMs) <= GOAL.startMs,
      detail: {
        loadBalancers: COUNT,
        rssAfterFillingMb: filled.rssMb,
        peakWhileFillingMb: filled.peakMb,
        rssAfterStartMb: median(restarted),
        starts: STARTS,
        startCpuMs: median(startCpuMs),
        slowestStartMs: Math.max(...startMs),
        createdPerSecond: COUNT / fillSeconds,
        measured: 'start: from starting the process until a client has logged in',
      },
    },
    options,
  )
})
