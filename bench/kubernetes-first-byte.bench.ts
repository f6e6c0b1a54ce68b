/**
 * From writing a Service to the first answer: before the POST of a Service that names its address, until a client reads
 * the first 200 from it. The client sends requests from the start. MetalLB's Services use the same API server and pods,
 * in turn with ours; kube-proxy balances for it.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { NODES } from '@spout/testkit'
import { compile, LineProgram } from './bed/native.ts'
import { type ConnectedCluster, withConnectedCluster } from './kubernetes/connected-cluster.ts'
import { METALLB_CLASS, METALLB_RANGE, metallbImages, startMetallb } from './kubernetes/metallb.ts'
import { createService } from './kubernetes/objects.ts'
import { untilProgrammed } from './kubernetes/programmed.ts'
import { startWebPods, WEB } from './kubernetes/web-pods.ts'
import { distribution, pairedRatio, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { p50Ms: 100, p99Ms: 300 }
const options = benchOptions()
const COUNT = options.quick ? 5 : 50
/** kube-proxy writes at once after a second without changes: each Service meets it at its best. */
const QUIET_MS = 1500
const PEER_CLIENT = 'tenant-a-member1'

interface Asked {
  readonly name: string
  readonly address: string
  readonly annotation: string
  readonly loadBalancerClass?: string
}

async function sample({ cluster }: ConnectedCluster, prober: LineProgram, asked: Asked): Promise<number> {
  const { name, address, annotation, ...more } = asked
  await pause(QUIET_MS)
  const startedNs = process.hrtime.bigint()
  const answer = prober.ask(`${address} 80`)
  const spec = { selector: WEB, ports: [{ name: 'http', port: 80, targetPort: 'http' }], ...more }
  await createService(cluster.api, { name, annotations: { [annotation]: address }, spec })
  const [answeredNs = '-1'] = (await answer).split(' ')
  if (answeredNs === '-1') throw new Error(`${name}: ${address} never answered`)
  return Number(BigInt(answeredNs) - startedNs) / 1e6
}

const workers = ['worker1', 'worker2']
const images = await metallbImages()
await withConnectedCluster({ nodes: NODES, workers, images }, async (bed) => {
  const { lab, cluster, connector } = bed
  await startWebPods(cluster, 2)
  await startMetallb(cluster)
  await lab.must(PEER_CLIENT, ['ip', 'route', 'add', METALLB_RANGE, 'dev', 'eth0'])
  await connector.start()
  const binary = await compile(lab, 'first-byte')
  await using ourProber = new LineProgram(lab, 'client', [binary])
  await using peerProber = new LineProgram(lab, PEER_CLIENT, [binary])
  const [ours, peers]: [number[], number[]] = [[], []]
  // The first of each is not counted: it opens connections and creates the tenant's domain.
  for (let n = 0; n <= COUNT; n++) {
    const name = `ours-${n}`
    const address = `198.51.100.${100 + n}`
    ours.push(await sample(bed, ourProber, { name, address, annotation: 'spout.dev/load-balancer-ips' }))
    await untilProgrammed(cluster, name)
    peers.push(
      await sample(bed, peerProber, {
        name: `peer-${n}`,
        address: `10.0.1.${100 + n}`,
        annotation: 'metallb.io/loadBalancerIPs',
        loadBalancerClass: METALLB_CLASS,
      }),
    )
  }
  const [first = Number.NaN, peerFirst = Number.NaN] = [ours.shift(), peers.shift()]
  const [figures, peer] = [spread(ours), spread(peers)]
  printRow(
    {
      name: 'service-to-first-byte',
      ours: figures,
      peer,
      comparedWith: 'MetalLB 0.15.2 in L2 mode, kube-proxy in nftables mode behind it',
      ratio: pairedRatio(ours, peers),
      goal: `p50 <= ${GOAL.p50Ms} ms, p99 <= ${GOAL.p99Ms} ms from the creation of a Service to the first reply through its address`,
      pass: figures.p50Ms <= GOAL.p50Ms && figures.p99Ms <= GOAL.p99Ms,
      detail: {
        services: COUNT,
        firstOfClusterMs: first,
        peerFirstMs: peerFirst,
        path: 'ours: client, router, node, tenant network, pod; MetalLB: a client in the segment of the nodes, node, pod',
      },
      distributions: { spout: distribution(ours), metallb: distribution(peers) },
    },
    options,
  )
})
