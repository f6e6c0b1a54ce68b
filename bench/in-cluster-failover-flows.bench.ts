/**
 * 1,000 idle and 100 busy TCP connections through each Service's address in the cluster that Spout serves (return path
 * `node`), while the node that has the addresses loses its power, with the pods that it has. Beside MetalLB and kube-proxy,
 * whose address is on the same node. Connections to pods of the dead node end with them, and do not count.
 */
import type { PlaceName } from '@spout/testkit'
import { type InClusterLab, WORKERS } from '../e2e/kubernetes/in-cluster-lab.ts'
import { compile, LineProgram } from './bed/native.ts'
import { FaultMaker } from './failover/faults.ts'
import { EchoMembers, type FlowResult, Flows, MEMBER_PORTS } from './failover/observers.ts'
import {
  type Balanced,
  balanceUntil,
  COMPARED_WITH,
  installSpout,
  startPods,
  withMetallbInCluster,
} from './kubernetes/beside-metallb.ts'
import { benchOptions, printRow } from './row.ts'

const options = benchOptions()
const RUNS = Number(process.env['SPOUT_BENCH_RUNS'] ?? (options.quick ? 1 : 5))
/** Of a flow that waits for its next retransmission after a long outage, some more time says what becomes of it. */
const MOST_CHECKS = 5
const COUNTS = 3

const WAYS = ['Local', 'Cluster', 'peer Cluster'] as const
type Way = (typeof WAYS)[number]

/** What became of the flows of one Service. */
interface Outcome {
  /** Flows to pods of nodes that live on. */
  readonly living: number
  readonly survived: number
  readonly reset: number
  readonly hung: number
  /** Until a new connection was answered. */
  readonly backMs: number
}

const outcomes: Readonly<Record<Way, Outcome[]>> = { Local: [], Cluster: [], 'peer Cluster': [] }

/** Services of all ways whose addresses one node has. */
async function createWays(lab: InClusterLab): Promise<Readonly<Record<Way, Balanced>>> {
  const common = { at: null, ports: [MEMBER_PORTS.tcp] } as const
  const ours = { ...common, side: 'ours' } as const
  const Local = await balanceUntil(
    lab,
    (n) => ({ ...ours, policy: 'Local', name: `local-${n}` }),
    () => true,
  )
  const sameOwner = ({ owner }: Balanced) => owner === Local.owner
  const Cluster = await balanceUntil(lab, (n) => ({ ...ours, policy: 'Cluster', name: `cluster-${n}` }), sameOwner)
  const peer = await balanceUntil(
    lab,
    (n) => ({ ...common, side: 'peer', policy: 'Cluster', name: `peer-${n}` }),
    sameOwner,
  )
  return { Local, Cluster, 'peer Cluster': peer }
}

/** Established connections to a pod's echo. Health checks come and go: the fewest of some counts are those that stay. */
async function established({ lab }: InClusterLab, pod: PlaceName): Promise<number> {
  const counts: number[] = []
  for (let n = 0; n < COUNTS; n++) {
    const shown = await lab.must(pod, ['ss', '-Htn', 'state', 'established', `( sport = :${MEMBER_PORTS.tcp} )`])
    counts.push(shown.split('\n').filter(Boolean).length)
  }
  return Math.min(...counts)
}

/** Checks until no flow is left whose fate is open. */
async function fates(flows: Flows): Promise<FlowResult> {
  let result = await flows.check()
  for (let n = 1; n < MOST_CHECKS && result.idle.hung + result.busy.hung > 0; n++) result = await flows.check()
  return result
}

/** When a new connection was answered, on CLOCK_MONOTONIC. @throws Error when none was in a minute */
async function backAt(prober: LineProgram, { name, address }: Balanced): Promise<bigint> {
  for (let n = 0; n < 3; n++) {
    // It tries for 20 s.
    const [answeredNs = '-1'] = (await prober.ask(`${address} 80`)).split(' ')
    if (answeredNs !== '-1') return BigInt(answeredNs)
  }
  throw new Error(`${name}: ${address} did not come back`)
}

async function outlive(lab: InClusterLab): Promise<void> {
  const pods = await startPods(lab)
  await installSpout(lab)
  await using _members = await EchoMembers.start(lab.lab, [...pods.values()])
  const ways = await createWays(lab)
  const { owner } = ways.Local
  const living = WORKERS.flatMap((node) => (node === owner ? [] : [pods.get(node) ?? '']))
  const countLiving = async () => {
    const counts = await Promise.all(living.map((pod) => established(lab, pod)))
    return counts.reduce((sum, one) => sum + one, 0)
  }

  await using stack = new AsyncDisposableStack()
  const faults = stack.use(await FaultMaker.start(lab.lab))
  const binary = await compile(lab.lab, 'first-byte')
  const open = new Map<Way, { readonly flows: Flows; readonly living: number; readonly prober: LineProgram }>()
  for (const way of WAYS) {
    const before = await countLiving()
    const flows = stack.use(await Flows.start(lab.lab, ways[way].address, MEMBER_PORTS.tcp))
    await flows.open()
    const prober = stack.use(new LineProgram(lab.lab, 'client', [binary]))
    open.set(way, { flows, living: (await countLiving()) - before, prober })
  }
  const since = await faults.powerOff(lab.cluster.node(owner))
  await Promise.all(
    WAYS.map(async (way) => {
      const { flows, living, prober } = open.get(way)!
      const backNs = await backAt(prober, ways[way])
      const { idle, busy, survived } = await fates(flows)
      outcomes[way].push({
        ...{ living, survived, reset: idle.reset + busy.reset, hung: idle.hung + busy.hung },
        backMs: Number(backNs - since) / 1e6,
      })
    }),
  )
}

for (let run = 0; run < RUNS; run++) await withMetallbInCluster(outlive)

const sum = (way: Way, what: keyof Outcome): number => outcomes[way].reduce((all, one) => all + one[what], 0)
const percent = (way: Way): Readonly<Record<string, number>> => ({
  [`${way} %`]: Math.min(...outcomes[way].map(({ survived, living }) => (100 * survived) / living)),
})
const ours = { ...percent('Local'), ...percent('Cluster') }
printRow(
  {
    name: 'in-cluster-failover-flows',
    ours,
    peer: percent('peer Cluster'),
    comparedWith: COMPARED_WITH,
    ratio: null,
    goal: '100 % of the flows to pods of nodes that live on survive in every run (worst run)',
    pass: Object.values(ours).every((one) => one === 100),
    detail: {
      runs: RUNS,
      ...Object.fromEntries(
        WAYS.map((way) => [
          `${way}: survived of living, reset, hung, slowest back ms`,
          [
            `${sum(way, 'survived')}/${sum(way, 'living')}`,
            sum(way, 'reset'),
            sum(way, 'hung'),
            Math.round(Math.max(...outcomes[way].map(({ backMs }) => backMs))),
          ].join(' '),
        ]),
      ),
    },
  },
  options,
)
