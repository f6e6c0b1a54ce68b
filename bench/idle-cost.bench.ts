/**
 * What an installation costs while nothing happens: processor time of the control plane and of an agent that carry 1,000
 * load balancers, without traffic, health checks or changes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { agentCpu } from './bed/agent-cpu.ts'
import { Filler } from './bed/fill.ts'
import { cpuSeconds, untilIdle } from './bed/processes.ts'
import { withSpout } from './bed/spout-bed.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_PERCENT = 1
const NODE = 'node1'
const options = benchOptions()
const LOAD_BALANCERS = options.quick ? 200 : 1000
/** Covers several of everything that runs by a timer. */
const IDLE_SECONDS = options.quick ? 15 : 60
/** V8 collects what filling left in steps, seconds apart: a tenth of a second each. */
const SETTLE_MS = options.quick ? 12_000 : 45_000

await withSpout({ nodes: [NODE], members: false }, async (bed) => {
  const pidOf = (name: string): number => {
    const found = bed.lab.process(name)
    if (found === null) throw new Error(`${name} does not run`)
    return found.pid
  }
  const [controlPlane, agent] = [pidOf('control-plane'), pidOf(`agent-${NODE}`)]
  /** Processor time since the start, in seconds. */
  const spent = () => ({ controlPlane: cpuSeconds(controlPlane), ...agentCpu(agent) })
  const filler = await Filler.create(bed)
  await filler.fillTo(LOAD_BALANCERS)
  await untilIdle(() => cpuSeconds(controlPlane) + cpuSeconds(agent))
  await pause(SETTLE_MS)
  const before = spent()
  const began = performance.now()
  await pause(IDLE_SECONDS * 1000)
  const seconds = (performance.now() - began) / 1000
  const after = spent()
  const percent = (part: keyof typeof after): number => (100 * (after[part] - before[part])) / seconds
  const ours = { controlPlanePercent: percent('controlPlane'), agentPercent: percent('agent') }
  printRow(
    {
      ...{ name: 'idle-cost', ours, peer: null, comparedWith: 'nothing: the bound is absolute', ratio: null },
      goal: `1,000 load balancers, nothing changes: <= ${GOAL_PERCENT} % of a core each`,
      pass: ours.controlPlanePercent <= GOAL_PERCENT && ours.agentPercent <= GOAL_PERCENT,
      detail: {
        loadBalancers: LOAD_BALANCERS,
        seconds,
        helperPercent: percent('helper'),
        daemonsPercent: percent('daemons'),
        measured: 'the agent with its helper; daemons: keepalived and the mover, with an advert every 20 ms',
      },
    },
    options,
  )
})
