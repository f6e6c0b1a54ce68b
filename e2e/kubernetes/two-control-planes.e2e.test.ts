import {
  domainNamespaces,
  type Kubernetes,
  killPid,
  LONGEST_BUILD_MS,
  pidsIn,
  recordFault,
  run,
  waitFor,
} from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { KernelWatch } from '../kernel-watch.ts'
import { ApiOfCluster } from './api-of-cluster.ts'
import { type InClusterLab, startInClusterLab, WORKERS } from './in-cluster-lab.ts'
import { POOL, webService } from './plain-service.ts'
import { askPolitely } from './polite-client.ts'
import { startWorkload } from './workloads.ts'

/** Two control planes in the cluster, whose store is in its API: the chart with `controlPlane.replicas=2`. */

let lab: InClusterLab
beforeAll(async () => {
  lab = await startInClusterLab()
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

/** The nodes that have an address. */
const holders = async (address: string): Promise<readonly string[]> => {
  const found: string[] = []
  for (const worker of WORKERS)
    if ((await lab.lab.must(worker, ['ip', '-o', 'address', 'show', 'to', address])) !== '') found.push(worker)
  return found
}
/** Only the leader listens for agents. */
const isLeading = async (pod: Kubernetes.Pod): Promise<boolean> =>
  (await lab.lab.run(lab.cluster.podPlace(pod), ['ss', '-Hltn', 'sport = :9131'])).stdout !== ''
/** Nodes that have a connection to it. */
const agentsOf = async (pod: Kubernetes.Pod): Promise<number> => {
  const argv = ['ss', '-Htn', 'state', 'established', 'sport = :9131']
  const peers = (await lab.lab.must(lab.cluster.podPlace(pod), argv)).trim().split('\n')
  return new Set(peers.map((line) => line.split(/\s+/)[3]?.replace(/:\d+$/, '')).filter(Boolean)).size
}
const leader = () =>
  waitFor(
    async () => {
      for (const pod of await lab.pods('control-plane')) if (await isLeading(pod)) return pod
      return null
    },
    { what: 'a control plane to lead', timeoutMs: 60_000 },
  )
/** The longest time between two accepted writes. */
const longestGap = (accepted: readonly { readonly atMs: number }[]): string => {
  const times = accepted.map(({ atMs }) => atMs)
  return `${(Math.max(...times.slice(1).map((atMs, n) => atMs - times[n]!)) / 1000).toFixed(2)} s`
}
/** The number of nodes that lead on packets of unknown flows for this address. */
const secondChancesOf = async (address: string): Promise<number> => {
  const tables = await Promise.all(
    ['node1', 'node2']
      .flatMap((node) => domainNamespaces(lab.lab, node))
      .map((name) => run(['ip', 'netns', 'exec', name, 'nft', 'list', 'table', 'ip', 'spout-second-chance'])),
  )
  return tables.filter(({ stdout }) => stdout.includes(`${address} . 80`)).length
}
/** A new Service comes to these tables last, after it is served. */
const hasSecondChances = (address: string) =>
  waitFor(async () => (await secondChancesOf(address)) === WORKERS.length, { what: `second chances of ${address}` })
const isShownOn = async (node: string) => (await lab.announced('default/web'))?.owner === node

it('both are ready, one leads, and a Service is served', async () => {
  const install = 'helm install spout deploy/chart/spout --namespace spout --create-namespace'
  const values = '--set image=registry.example.net/spout:0.1.0,store.kind=cluster,controlPlane.replicas=2'
  expect(await lab.shell(`${install} ${values}`)).toMatchObject({ code: 0 })
  await lab.allReady({ controlPlanes: 2 })
  const leading = await Promise.all((await lab.pods('control-plane')).map(isLeading))
  expect(leading.sort()).toEqual([false, true])
  await startWorkload(lab, { name: 'web', replicas: 2 })
  await lab.apply(POOL)
  await lab.apply(webService('web'))
  await lab.answering('web')
}, 300_000)

it('kill -9 of the leader: the other leads, has all that was acknowledged, and nothing moves', async () => {
  const address = await lab.answering('web')
  const before = await holders(address)
  expect(before).toHaveLength(1)
  const api = await ApiOfCluster.open(lab)
  const first = await leader()
  const asking = askPolitely(lab.client, address)
  expect(['node1', 'node2'].flatMap((node) => domainNamespaces(lab.lab, node))).toHaveLength(WORKERS.length)
  await hasSecondChances(address)
  const watch = await KernelWatch.start(lab.lab, 'leader-killed')
  const writes = await api.startWriting('killed')
  await waitFor(() => writes.accepted().length > 5, { what: 'writes' })
  for (const pid of await pidsIn(lab.lab.namespace(lab.cluster.podPlace(first)))) killPid(pid)
  const killedMs = Date.now()
  const isLater = ({ atMs }: { readonly atMs: number }) => atMs > killedMs
  await waitFor(() => writes.accepted().filter(isLater).length > 5, { what: 'writes again', timeoutMs: 60_000 })
  const accepted = await writes.stop()
  // The killed one is started anew, and needs longer than the other to get the lease.
  expect((await leader()).metadata.name).not.toBe(first.metadata.name)
  expect(await api.projectNames()).toEqual(expect.arrayContaining(accepted.map(({ name }) => name)))

  await waitFor(async () => (await agentsOf(await leader())) >= WORKERS.length, {
    what: 'the agents',
    timeoutMs: 60_000,
  })
  await lab.ready('control-plane', 2)
  expect(await watch.stop()).toEqual([])
  await lab.apply(webService('second'))
  expect(await lab.answering('second')).not.toBe(address)
  const { failed, count } = await asking.stop()
  expect(failed).toEqual([])
  expect(await lab.answering('web')).toBe(address)
  expect(await holders(address)).toEqual(before)
  await waitFor(() => isShownOn(before[0]!), { what: 'the owner', timeoutMs: 60_000 })
  recordFault({
    fault: 'kill -9 of the leading one of two control planes in a cluster without a volume',
    outcome: `the other leads; of ${accepted.length} acknowledged writes none is missing; no address and no slot moved`,
    figure: `0 of ${count} requests failed; no write accepted for ${longestGap(accepted)}`,
  })
}, 180_000)

it('both are replaced, one after the other: no request fails, nothing moves, and all that was acknowledged is there', async () => {
  const address = await lab.answering('web')
  const before = await holders(address)
  const api = await ApiOfCluster.open(lab)
  const uids = async () => (await lab.pods('control-plane')).map(({ metadata }) => metadata.uid)
  const replaced = new Set(await uids())
  const asking = askPolitely(lab.client, address)
  await hasSecondChances(await lab.answering('second'))
  const watch = await KernelWatch.start(lab.lab, 'replaced')
  const writes = await api.startWriting('replaced')
  await waitFor(() => writes.accepted().length > 5, { what: 'writes' })
  const restart = 'kubectl rollout restart statefulset control-plane --namespace spout'
  expect(await lab.shell(restart)).toMatchObject({ code: 0 })
  await waitFor(async () => (await uids()).every((uid) => !replaced.has(uid)), {
    what: 'both pods to be replaced',
    timeoutMs: 120_000,
  })
  await lab.ready('control-plane', 2)
  const soFar = writes.accepted().length
  await waitFor(() => writes.accepted().length > soFar + 5, { what: 'writes afterwards', timeoutMs: 60_000 })
  const accepted = await writes.stop()
  expect(await api.projectNames()).toEqual(expect.arrayContaining(accepted.map(({ name }) => name)))
  await waitFor(async () => (await agentsOf(await leader())) >= WORKERS.length, {
    what: 'the agents',
    timeoutMs: 60_000,
  })
  expect(await watch.stop()).toEqual([])
  const { failed, count } = await asking.stop()
  expect(failed).toEqual([])
  expect(await holders(address)).toEqual(before)
  recordFault({
    fault: 'rolling restart of two control planes in a cluster without a volume',
    outcome: `of ${accepted.length} acknowledged writes none is missing; no address and no slot moved`,
    figure: `0 of ${count} requests failed; no write accepted for ${longestGap(accepted)}`,
  })
}, 240_000)
