/**
 * Routes in many namespaces, each with a Service of its own, the Gateway of its namespace for each: memory of the proxy
 * and of the controller, and processor time while nothing changes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '@spout/testkit'
import { agentCpu } from './bed/agent-cpu.ts'
import { compile, LineProgram } from './bed/native.ts'
import { ownCpuSeconds, proportionalMb, proxyProcesses, residentMb } from './bed/processes.ts'
import { cpuOf, NODE, PORT, pidOf, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createRoute, GATEWAYS, type ShownGateway, toService } from './gateway/objects.ts'
import { forEachNumber } from './kubernetes/objects.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { proxyMb: 100, connectorMb: 300, idlePercent: 2 }
const options = benchOptions()
const [NAMESPACES, EACH] = options.quick ? [5, 20] : [50, 100]
const IDLE_S = options.quick ? 10 : 60
/** Late writes come within this time. */
const SETTLE_MS = 10_000

const namespaceOf = (n: number): string => `team-${n}`
const hostOf = (namespace: string, n: number): string => `r${n}.${namespace}.example.com`

await withGateways(async (bed) => {
  const { lab, cluster, connector } = bed
  const { api } = cluster
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  for (let at = 0; at < NAMESPACES; at++) {
    const namespace = namespaceOf(at)
    await api.create('/api/v1/namespaces', { metadata: { name: namespace } })
    const address = await startGateway(bed, 'web', namespace)
    await forEachNumber(0, EACH, async (n) => {
      await createBackend(api, `web-${n}`, { namespace })
      const rules = toService(`web-${n}`)
      await createRoute(api, { name: `web-${n}`, namespace, gateway: 'web', hostname: hostOf(namespace, n), rules })
    })
    await waitFor(
      async () => {
        const { status } = await api.get<ShownGateway>(`${GATEWAYS(namespace)}/web`)
        return status?.listeners?.[0]?.attachedRoutes === EACH
      },
      { what: `routes of ${namespace} to be attached`, timeoutMs: 120_000, everyMs: 100 },
    )
    const last = hostOf(namespace, EACH - 1)
    if ((await prober.ask(`${address} ${PORT} ${last}`)).startsWith('-1')) throw new Error(`${last} was never served`)
  }
  await pause(SETTLE_MS)
  const proxies = (await proxyProcesses(lab)).map((process) => Number.parseInt(process, 10))
  const proxyMb = proxies.reduce((sum, pid) => sum + proportionalMb(pid), 0)
  const connectorMb = connector.memoryMb.now
  const agent = pidOf(lab, `agent-${NODE}`)
  const spent = () => {
    const { connector, controlPlane } = cpuOf(bed)
    const proxyCpu = proxies.reduce((sum, pid) => sum + ownCpuSeconds(pid), 0)
    return { connector, controlPlane, ...agentCpu(agent), proxies: proxyCpu }
  }
  const before = spent()
  await pause(IDLE_S * 1000)
  const after = spent()
  const percentOf = (part: keyof typeof after): number => ((after[part] - before[part]) / IDLE_S) * 100
  const parts = ['connector', 'controlPlane', 'agent', 'proxies'] as const
  const idlePercent = parts.reduce((sum, part) => sum + percentOf(part), 0)
  printRow(
    {
      name: 'gateway-scale',
      ours: { proxyMb, connectorMb, idlePercent },
      peer: null,
      comparedWith: 'nothing yet',
      ratio: null,
      goal: `5000 routes in 50 namespaces: proxy <= ${GOAL.proxyMb} MB, controller <= ${GOAL.connectorMb} MB, both with control plane and agent <= ${GOAL.idlePercent} % of a core while nothing changes`,
      pass: proxyMb <= GOAL.proxyMb && connectorMb <= GOAL.connectorMb && idlePercent <= GOAL.idlePercent,
      detail: {
        routes: NAMESPACES * EACH,
        namespaces: NAMESPACES,
        connectorPeakMb: connector.memoryMb.peak,
        controlPlaneMb: residentMb(pidOf(lab, 'control-plane')),
        connectorIdlePercent: percentOf('connector'),
        controlPlaneIdlePercent: percentOf('controlPlane'),
        agentIdlePercent: percentOf('agent'),
        proxyIdlePercent: percentOf('proxies'),
        daemonsIdlePercent: percentOf('daemons'),
        measured:
          'memory of proxies is proportional (PSS), of the others resident; daemons: keepalived and the mover, whose adverts every 20 ms cost the same without a route, so they are no part of the goal',
      },
    },
    options,
  )
})
