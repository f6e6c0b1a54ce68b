/**
 * A connector starts on a cluster full of Services, none of them balanced yet: the time until the node has confirmed
 * all. Then it is killed and restarted on the same Services: what it writes and changes although nothing differs.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { KubernetesCluster, Lab, waitFor } from '@spout/testkit'
import { cpuSeconds, peakResidentMb } from './bed/processes.ts'
import { countedText } from './kubernetes/audit-log.ts'
import { type ConnectedCluster, confirmed, withConnectedCluster } from './kubernetes/connected-cluster.ts'
import { CONNECTOR_AGENT } from './kubernetes/connector.ts'
import { giveMetallbPool, installMetallb, METALLB_CLASS, metallbImages } from './kubernetes/metallb.ts'
import { addressNode, createNode, createServices, forEachNumber, SERVICES } from './kubernetes/objects.ts'
import { countAddressed, countProgrammed } from './kubernetes/programmed.ts'
import { transactionCounter } from './kubernetes/transactions.ts'
import { median } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { coldStartMs: 10_000, connectorMb: 400 }
const NODE = 'node1'
const options = benchOptions()
const COUNT = options.quick ? 500 : 10_000
const RESTARTS = options.quick ? 1 : 3
/** It handles one Service after another, some twenty a second: fewer show its rate as well. */
const PEER_COUNT = options.quick ? 50 : 500
const WRITES_ALONE = options.quick ? 200 : 2000
const PEER_RANGE = '100.64.0.0/16'
/** A cold start that takes longer is reported after this time; the next steps wait until it is done. */
const MOST_COLD_START_MS = 120_000
const LONGEST_MS = 900_000
/** Counting all load balancers takes time of the control plane. */
const LOOK_EVERY_MS = 500
/** Late writes and corrections come within this time. */
const OBSERVED_MS = 5000

const OURS = { connector: 'connector', controlPlane: 'control-plane', agent: `agent-${NODE}` } as const
const KUBERNETES = ['kube-apiserver', 'etcd', 'kube-controller-manager'] as const

function pidOf({ lab }: ConnectedCluster, name: string): number {
  const found = lab.process(name)
  if (found === null) throw new Error(`${name} does not run`)
  return found.pid
}

/** Processor seconds of the parts so far, which dominate the figure on a machine with few cores. */
function cpuOf(bed: ConnectedCluster): Readonly<Record<string, number>> {
  const ours = Object.entries(OURS).map(([part, name]) => [`${part}CpuS`, cpuSeconds(pidOf(bed, name))] as const)
  const kubernetes = KUBERNETES.map((role) => [`${role}CpuS`, cpuSeconds(bed.cluster.controlPlane.pid(role))] as const)
  return Object.fromEntries([...ours, ...kubernetes])
}

/**
 * MetalLB on waiting Services: from the creation of its pool, without which it decides nothing, until all have an
 * address. In a cluster of its own, because its speaker needs a node with a kubelet and kube-proxy, whose work would
 * affect ours.
 * @returns Services per second
 */
async function peerRate(): Promise<number> {
  await using lab = await Lab.create()
  const images = await metallbImages()
  await using cluster = await KubernetesCluster.start(lab, { segment: 'tenant-a', images, garbage: 'usual' })
  await cluster.addNode('worker1')
  await createServices(cluster.api, 'peer', 0, PEER_COUNT, { loadBalancerClass: METALLB_CLASS })
  await installMetallb(cluster)
  const startedMs = performance.now()
  await giveMetallbPool(cluster, PEER_RANGE)
  await waitFor(async () => (await countAddressed(cluster)) >= PEER_COUNT, {
    what: `MetalLB to give ${PEER_COUNT} addresses`,
    timeoutMs: LONGEST_MS,
    everyMs: LOOK_EVERY_MS,
  })
  return PEER_COUNT / ((performance.now() - startedMs) / 1000)
}

/**
 * The upper bound for any controller that puts a finalizer on each Service before it does anything: such a write to as
 * many Services, without any of our programs.
 * @returns writes per second
 */
async function writesAlone({ cluster }: ConnectedCluster): Promise<number> {
  const startedMs = performance.now()
  await forEachNumber(0, WRITES_ALONE, (n) =>
    cluster.api.patch(`${SERVICES}/service-${n}`, { metadata: { annotations: { 'bench.example/alone': 'yes' } } }),
  )
  return WRITES_ALONE / ((performance.now() - startedMs) / 1000)
}

async function coldStart(bed: ConnectedCluster, peer: number): Promise<void> {
  const { connector, audit } = bed
  const alone = await writesAlone(bed)
  const from = audit.end
  const startedMs = performance.now()
  await connector.start()
  const cpuBefore = cpuOf(bed)
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
  const servicesASecond = programmed / (programmedMs / 1000)
  const cpu = Object.entries(cpuOf(bed)).map(([part, seconds]) => [part, seconds - (cpuBefore[part] ?? 0)])
  await connector.idle(COUNT, LONGEST_MS)
  const statusesMs = performance.now() - startedMs
  const tellingSo = await countProgrammed(bed.cluster)
  const { now, peak } = connector.memoryMb
  const written = audit.writesSince(from, [CONNECTOR_AGENT])
  printRow(
    {
      name: 'cold-start',
      ours: { programmedMs, connectorPeakMb: peak, servicesASecond },
      peer: { servicesASecond: peer },
      comparedWith: `MetalLB 0.15.2 on ${PEER_COUNT} Services that wait for its pool, until all have an address; ratio of Services a second`,
      ratio: servicesASecond / peer,
      goal: `10000 Services from the start of the connector: programmed on the node <= ${GOAL.coldStartMs} ms; connector <= ${GOAL.connectorMb} MB`,
      pass: programmed >= COUNT && programmedMs <= GOAL.coldStartMs && peak <= GOAL.connectorMb,
      detail: {
        services: COUNT,
        programmed,
        ...Object.fromEntries(cpu),
        writesAloneASecond: alone,
        finalizersAloneMs: (COUNT / alone) * 1000,
        statusesMs,
        servicesThatSayProgrammed: tellingSo,
        connectorAtRestMb: now,
        controlPlanePeakMb: peakResidentMb(pidOf(bed, OURS.controlPlane)),
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
  // Events are written after the work is done.
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

const peer = await peerRate()
await withConnectedCluster({ nodes: [NODE], set: ['services.addressPools=[wide]'] }, async (bed) => {
  const { api } = bed.cluster
  await createNode(api, 'pods', '10.244.0.0/24')
  await addressNode(api, 'pods', '10.0.0.32')
  await createServices(api, 'service', 0, COUNT)
  await coldStart(bed, peer)
  await restart(bed)
})
