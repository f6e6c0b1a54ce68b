/**
 * A connector that starts on a cluster full of Services, none of them balanced yet: until the node has confirmed all. Then
 * one that is killed and started again on the same Services, and what it writes and changes although nothing differs.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { waitFor } from '@spout/testkit'
import { peakResidentMb } from './bed/processes.ts'
import { countedText } from './kubernetes/audit-log.ts'
import { type ConnectedCluster, confirmed, withConnectedCluster } from './kubernetes/connected-cluster.ts'
import { CONNECTOR_AGENT } from './kubernetes/connector.ts'
import { addressNode, createNode, createServices } from './kubernetes/objects.ts'
import { countProgrammed } from './kubernetes/programmed.ts'
import { transactionCounter } from './kubernetes/transactions.ts'
import { median } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { coldStartMs: 10_000, connectorMb: 400 }
const NODE = 'node1'
const options = benchOptions()
const COUNT = options.quick ? 500 : 10_000
const RESTARTS = options.quick ? 1 : 3
/** A cold start that takes longer is told as it is after this time; what follows waits until it is done. */
const MOST_COLD_START_MS = 120_000
const LONGEST_MS = 900_000
/** Counting all load balancers costs the control plane time of its own. */
const LOOK_EVERY_MS = 500
/** What it would write late, or mend on a second look, comes within this time. */
const OBSERVED_MS = 5000

function controlPlaneMb({ lab }: ConnectedCluster): number {
  const found = lab.process('control-plane')
  if (found === null) throw new Error('the control plane does not run')
  return peakResidentMb(found.pid)
}

async function coldStart(bed: ConnectedCluster): Promise<void> {
  const { connector, audit } = bed
  const from = audit.end
  const startedMs = performance.now()
  await connector.start()
  let active = 0
  await waitFor(
    async () => {
      const now = await confirmed(bed)
      active = now.active
      return active >= COUNT && now.others === 0
    },
    { what: `${COUNT} load balancers to be confirmed`, timeoutMs: MOST_COLD_START_MS, everyMs: LOOK_EVERY_MS },
  ).catch(() => {})
  const programmedMs = performance.now() - startedMs
  const programmed = active
  await connector.idle(COUNT, LONGEST_MS)
  const statusesMs = performance.now() - startedMs
  const tellingSo = await countProgrammed(bed.cluster)
  const { now, peak } = connector.memoryMb
  const written = audit.writesSince(from, [CONNECTOR_AGENT])
  printRow(
    {
      name: 'cold-start',
      ours: { programmedMs, connectorPeakMb: peak },
      peer: null,
      comparedWith: 'nothing: the bound is absolute',
      ratio: null,
      goal: `10000 Services from the start of the connector: programmed on the node <= ${GOAL.coldStartMs} ms; connector <= ${GOAL.connectorMb} MB`,
      pass: programmed >= COUNT && programmedMs <= GOAL.coldStartMs && peak <= GOAL.connectorMb,
      detail: {
        services: COUNT,
        programmed,
        servicesASecond: programmed / (programmedMs / 1000),
        statusesMs,
        servicesThatSayProgrammed: tellingSo,
        connectorAtRestMb: now,
        controlPlanePeakMb: controlPlaneMb(bed),
        writes: countedText(written),
        measured: 'every load balancer confirmed by the node, as the control plane shows it every 500 ms; no checks',
      },
    },
    options,
  )
}

async function restart(bed: ConnectedCluster): Promise<void> {
  const { lab, connector, audit } = bed
  const transactions = await transactionCounter(lab, NODE)
  // Events are recorded after the work is done.
  await pause(OBSERVED_MS)
  const [from, before] = [audit.end, await transactions()]
  const readyMs: number[] = []
  for (let round = 0; round < RESTARTS; round++) {
    await connector.kill()
    const startedMs = performance.now()
    await connector.start()
    await connector.idle(COUNT, LONGEST_MS)
    readyMs.push(performance.now() - startedMs)
    await pause(OBSERVED_MS)
  }
  const written = audit.writesSince(from, [CONNECTOR_AGENT])
  const changed = (await transactions()) - before
  printRow(
    {
      name: 'restart',
      ours: { writes: written.length, transactions: changed, readyP50Ms: median(readyMs) },
      peer: null,
      comparedWith: 'nothing: the bound is absolute',
      ratio: null,
      goal: 'connector kill -9 and restart with 10000 unchanged Services: 0 writes to the API server, 0 kernel transactions',
      pass: written.length === 0 && changed === 0,
      detail: {
        services: COUNT,
        restarts: RESTARTS,
        connectorPeakMb: connector.memoryMb.peak,
        connectorAtRestMb: connector.memoryMb.now,
        ...(written.length === 0 ? {} : { written: countedText(written) }),
        measured: "the API server's audit log and the kernel's own count on the node, all restarts together",
      },
    },
    options,
  )
}

await withConnectedCluster({ nodes: [NODE], set: ['services.addressPools=[wide]'] }, async (bed) => {
  const { api } = bed.cluster
  await createNode(api, 'pods', '10.244.0.0/24')
  await addressNode(api, 'pods', '10.0.0.32')
  await createServices(api, 'service', 0, COUNT)
  await coldStart(bed)
  await restart(bed)
})
