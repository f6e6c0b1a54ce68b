import { type Kubernetes, LONGEST_BUILD_MS, must, recordFault, waitFor } from '@spout/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type InClusterLab, startInClusterLab } from './in-cluster-lab.ts'
import { POOL, webService } from './plain-service.ts'
import { askPolitely } from './polite-client.ts'
import { startWorkload } from './workloads.ts'

/** Spout in its cluster without any volume: the chart with `store.kind=cluster`. */

let lab: InClusterLab
beforeAll(async () => {
  lab = await startInClusterLab()
}, LONGEST_BUILD_MS)
afterAll(() => lab?.destroy())

/** The load balancer and its owner, which is shown a moment after it answers. */
const announced = () => waitFor(() => lab.announced('default/web'), { what: 'its owner', timeoutMs: 60_000 })
const uidsOf = (pods: readonly Kubernetes.Pod[]) => pods.map(({ metadata }) => metadata.uid).sort()

it('comes up by helm install alone, and claims no volume', async () => {
  const install = 'helm install spout deploy/chart/spout --namespace spout --create-namespace'
  const values = '--set image=registry.example.net/spout:0.1.0,store.kind=cluster'
  expect(await lab.shell(`${install} ${values}`)).toMatchObject({ code: 0 })
  await lab.allReady()
  expect(await lab.kubectl('get', 'persistentvolumeclaims', '--namespace', 'spout', '--output', 'name')).toBe('')
  const keys = ['get', 'secret', 'control-plane-keys', '--namespace', 'spout', '--output', 'jsonpath={.data}'] as const
  expect(Object.keys(JSON.parse(await lab.kubectl(...keys)) as object).sort()).toEqual([
    ...['admin-password', 'ca.crt', 'ca.key', 'sealing-keys'],
  ])
})

it('the pod of the control plane goes, with all its files: the next has everything, no address moves, nobody enrols anew', async () => {
  await startWorkload(lab, { name: 'web', replicas: 2 })
  await lab.apply(POOL)
  await lab.apply(webService('web'))
  const address = await lab.answering('web')
  const before = await announced()
  const others = async () => uidsOf((await Promise.all(['agent', 'connector', 'configuration'].map(lab.pods))).flat())
  const running = await others()
  const asking = askPolitely(lab.client, address)
  const [pod] = await lab.pods('control-plane')
  const killedMs = performance.now()
  await must([...lab.cluster.kubectl, 'delete', 'pod', '--namespace', 'spout', '--now', pod!.metadata.name])
  await waitFor(
    async () => (await lab.pods('control-plane')).every(({ metadata }) => metadata.uid !== pod!.metadata.uid),
    {
      what: 'the pod to go',
      timeoutMs: 60_000,
    },
  )
  await lab.ready('control-plane', 1)
  await lab.apply(webService('second'))
  expect(await lab.answering('second')).not.toBe(address)
  const tookMs = performance.now() - killedMs
  const { failed, count } = await asking.stop()
  expect(failed).toEqual([])
  expect(await lab.answering('web')).toBe(address)
  // The load balancer is the same, and so are all pods, which trust the same authority.
  expect(await announced()).toEqual(before)
  expect(await others()).toEqual(running)
  recordFault({
    fault: 'in-cluster without a volume: the pod of the control plane and its files go',
    outcome: 'the next has all from the API of the cluster; no address and no load balancer changes',
    figure: `0 of ${count} requests failed; a new Service answered after ${(tookMs / 1000).toFixed(1)} s`,
  })
}, 300_000)

it('a value makes it two control planes: load balancers and addresses stay, and both are of use', async () => {
  const address = await lab.answering('web')
  const { id } = await announced()
  const upgrade = 'helm upgrade spout deploy/chart/spout --namespace spout --reset-then-reuse-values'
  expect(await lab.shell(`${upgrade} --set controlPlane.replicas=2`)).toMatchObject({ code: 0 })
  await lab.allReady({ controlPlanes: 2 })
  const names = (await lab.pods('control-plane')).map(({ metadata }) => metadata.name)
  expect(names.sort()).toEqual(['control-plane-0', 'control-plane-1'])
  await lab.apply(webService('third'))
  await lab.answering('third')
  expect(await lab.answering('web')).toBe(address)
  expect((await announced()).id).toBe(id)
}, 300_000)

it('and back to one: it has everything, and serves what is new', async () => {
  const address = await lab.answering('web')
  const { id } = await announced()
  const asking = askPolitely(lab.client, address)
  const upgrade = 'helm upgrade spout deploy/chart/spout --namespace spout --reset-then-reuse-values'
  expect(await lab.shell(`${upgrade} --set controlPlane.replicas=1`)).toMatchObject({ code: 0 })
  await lab.allReady()
  await lab.apply(webService('fourth'))
  await lab.answering('fourth')
  expect(await lab.answering('web')).toBe(address)
  expect((await announced()).id).toBe(id)
  expect((await asking.stop()).failed).toEqual([])
}, 300_000)
