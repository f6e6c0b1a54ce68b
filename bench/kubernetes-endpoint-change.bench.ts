/**
 * From an EndpointSlice to the packets: an endpoint is added, until its pod answers new connections through the VIP,
 * and removed, until it answers no more. The same write is measured at a node port, where only kube-proxy is involved.
 */
import { type Kubernetes, NODES, waitFor } from '@spout/testkit'
import { compile } from './bed/native.ts'
import { CommitTimes } from './kubernetes/commit-times.ts'
import { withConnectedCluster } from './kubernetes/connected-cluster.ts'
import { createService, SERVICES, SLICES, type SliceEndpoint, sliceOf } from './kubernetes/objects.ts'
import { type Answers, PodProber } from './kubernetes/pod-prober.ts'
import { untilProgrammed } from './kubernetes/programmed.ts'
import { podAddress, startWebPods, WEB_PORT } from './kubernetes/web-pods.ts'
import { distribution, pairedRatio, percentile, spread } from './percentile.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL_MS = 50
const options = benchOptions()
const ROUNDS = options.quick ? 4 : 50
const [NAME, ADDRESS] = ['web', '198.51.100.100']
const PAUSE_US = 500
/** kube-proxy writes at most once a second: a pod that has not answered for longer is out of rotation. */
const SILENT_NS = 1_600_000_000n

const ms = (fromNs: bigint, untilNs: bigint): number => Math.max(0, Number(untilNs - fromNs) / 1e6)

await withConnectedCluster({ nodes: NODES, workers: ['worker1', 'worker2'] }, async ({ lab, cluster, connector }) => {
  const { api } = cluster
  const pods = await startWebPods(cluster, 2)
  const [stays, changes] = pods as readonly [Kubernetes.Pod, Kubernetes.Pod]
  const endpoint = (pod: Kubernetes.Pod): SliceEndpoint => ({
    address: podAddress(pod),
    nodeName: pod.spec.nodeName ?? '',
  })
  const { name: changing } = changes.metadata
  await connector.start()
  await createService(api, { name: NAME, annotations: { 'spout.dev/load-balancer-ips': ADDRESS } })
  await api.create(SLICES, sliceOf(NAME, WEB_PORT, [endpoint(stays)]))
  await untilProgrammed(cluster, NAME)
  const { spec } = await api.get<Kubernetes.Service>(`${SERVICES}/${NAME}`)
  const [nodeAddress] = cluster.node('worker1').addresses
  const binary = await compile(lab, 'pod-answers')
  const argv = (address: string, port: number) => [binary, address, String(port), String(PAUSE_US)]
  await using ours = new PodProber(lab, 'client', argv(ADDRESS, 80))
  await using peer = new PodProber(lab, 'tenant-a-member1', argv(nodeAddress, spec.ports[0]?.nodePort ?? 0))
  using commits = await CommitTimes.watch(api, SLICES)

  const both = (what: 'tell' | 'reset') => Promise.all([ours[what](), peer[what]()])
  const until = (what: string, holds: (answers: Answers) => boolean) =>
    waitFor(async () => (await both('tell')).every(holds), { what, timeoutMs: 20_000, everyMs: 20 })
  const stayAnswers = ({ pods: seen }: Answers) => (seen.get(stays.metadata.name)?.count ?? 0) > 20
  const write = async (endpoints: readonly Kubernetes.Pod[]) => {
    const askedNs = process.hrtime.bigint()
    const written = await api.patch<Kubernetes.KubernetesObject>(`${SLICES}/${NAME}-a`, {
      endpoints: sliceOf(NAME, WEB_PORT, endpoints.map(endpoint)).endpoints,
    })
    return { askedNs, toldNs: await commits.of(written) }
  }
  const answersOf = (answers: Answers) => answers.pods.get(changing) ?? { firstNs: 0n, lastNs: 0n, count: 0 }

  const added: { ours: number[]; peer: number[] } = { ours: [], peer: [] }
  const removed: { ours: number[]; peer: number[] } = { ours: [], peer: [] }
  const fromRequest: number[] = []
  let failed = 0
  await until('the first pod to answer', stayAnswers)
  for (let round = 0; round < ROUNDS; round++) {
    await both('reset')
    await until('kube-proxy to be at rest', stayAnswers)
    const add = await write([stays, changes])
    await until('the new pod to answer', ({ pods: seen }) => seen.has(changing))
    const [oursAdded, peerAdded] = await both('reset')
    added.ours.push(ms(add.toldNs, answersOf(oursAdded).firstNs))
    added.peer.push(ms(add.toldNs, answersOf(peerAdded).firstNs))
    fromRequest.push(ms(add.askedNs, answersOf(oursAdded).firstNs))
    const remove = await write([stays])
    await until('the pod to be out of rotation', ({ pods: seen }) => {
      const last = seen.get(changing)?.lastNs ?? remove.toldNs
      return process.hrtime.bigint() - last > SILENT_NS
    })
    const [oursRemoved, peerRemoved] = await both('tell')
    removed.ours.push(ms(remove.toldNs, answersOf(oursRemoved).lastNs))
    removed.peer.push(ms(remove.toldNs, answersOf(peerRemoved).lastNs))
    fromRequest.push(ms(remove.askedNs, answersOf(oursRemoved).lastNs))
    failed += oursAdded.failed + oursRemoved.failed
  }
  const all = [...added.ours, ...removed.ours]
  const peers = [...added.peer, ...removed.peer]
  const figures = spread(all)
  printRow(
    {
      name: 'endpoint-change',
      ours: figures,
      peer: spread(peers),
      comparedWith: 'kube-proxy in nftables mode on one node, the same writes at a node port',
      ratio: pairedRatio(all, peers),
      goal: `p99 <= ${GOAL_MS} ms from the write of the EndpointSlice: an added pod answers, a removed one answers no more`,
      pass: figures.p99Ms <= GOAL_MS,
      detail: {
        changes: all.length,
        fromRequestP50Ms: percentile(fromRequest, 0.5),
        fromRequestP99Ms: percentile(fromRequest, 0.99),
        failedQuestions: failed,
        measured: 'from the watch event of the write at a watcher of ours; the request itself is in fromRequest',
      },
      distributions: {
        added: distribution(added.ours),
        removed: distribution(removed.ours),
        'added, kube-proxy': distribution(added.peer),
        'removed, kube-proxy': distribution(removed.peer),
      },
    },
    options,
  )
})
