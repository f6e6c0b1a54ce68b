import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Lab } from '../lab/lab.ts'
import { waitFor } from '../lab/wait-for.ts'
import { KubernetesCluster } from './cluster.ts'
import { LONGEST_BUILD_MS } from './go-build.ts'
import type { EndpointSlice, Pod, Service } from './objects.ts'

const LABELS = { app: 'web' }
const DEFAULT = '/api/v1/namespaces/default'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

let lab: Lab
let cluster: KubernetesCluster
let service: Service

beforeAll(async () => {
  lab = await Lab.create()
  cluster = await KubernetesCluster.start(lab)
  await Promise.all(['worker1', 'worker2'].map((name) => cluster.addNode(name)))
  await cluster.api.create('/apis/apps/v1/namespaces/default/deployments', {
    metadata: { name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          terminationGracePeriodSeconds: 5,
          containers: [
            {
              name: 'web',
              image: 'web',
              ports: [
                { name: 'http', containerPort: 8080 },
                { name: 'echo', containerPort: 9001, protocol: 'UDP' },
              ],
              readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 1, failureThreshold: 1 },
            },
          ],
        },
      },
    },
  })
  service = await cluster.api.create<Service>(`${DEFAULT}/services`, {
    metadata: { name: 'web' },
    spec: {
      type: 'NodePort',
      ipFamilyPolicy: 'RequireDualStack',
      selector: LABELS,
      ports: [
        { name: 'http', port: 80, targetPort: 'http' },
        { name: 'echo', port: 9001, targetPort: 'echo', protocol: 'UDP' },
      ],
    },
  })
  await cluster.readyPods(3, 'app=web')
}, LONGEST_BUILD_MS)

afterAll(async () => {
  const { id } = lab
  const pids = processesOf(id)
  await cluster.destroy()
  // What the lab brought along is still there; of the cluster nothing is.
  expect(
    readdirSync('/run/netns').filter((name) => name.startsWith(`${id}-`) && /pod-|worker|kube/.test(name)),
  ).toEqual([])
  expect(pids.length).toBeGreaterThan(8)
  expect(processesOf(id)).toEqual([])
  await lab.destroy()
})

/** Processes that were started with a file of this lab, or in one of its pods. */
function processesOf(labId: string): readonly string[] {
  const pods = new Set(readdirSync('/run/netns').filter((name) => name.startsWith(`${labId}-pod-`)))
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')]
      } catch {
        return []
      }
    })
    .filter(
      (command) => command.includes(`${lab.directory}/kube/`) || (pods.size > 0 && command.includes('-not-ready')),
    )
}

/** The answer to a request from a place of the lab; null when there is none. */
async function requestFrom(place: string, address: string, port: number, path = '/') {
  const host = address.includes(':') ? `[${address}]` : address
  const { code, stdout } = await lab.run(place, ['curl', '-sf', '-m', '2', `http://${host}:${port}${path}`])
  return code === 0 ? (JSON.parse(stdout) as { pod: string; node: string; client: string }) : null
}

const endpoints = async (): Promise<
  readonly { readonly pod: string; readonly ready: boolean; readonly terminating: boolean }[]
> => {
  const { items } = await cluster.api.list<EndpointSlice>(`${SLICES}?labelSelector=kubernetes.io%2Fservice-name%3Dweb`)
  return items
    .filter(({ addressType }) => addressType === 'IPv4')
    .flatMap((slice) => slice.endpoints ?? [])
    .map(({ targetRef, conditions }) => ({
      pod: targetRef?.name ?? '',
      ready: conditions?.ready ?? false,
      terminating: conditions?.terminating ?? false,
    }))
}

const nameOf = (pod: Pod | undefined): string => pod?.metadata.name ?? ''

describe('the Kubernetes test bed', () => {
  it('spreads the pods of a Deployment over its nodes, with addresses of both families that answer everywhere', async () => {
    const pods = await cluster.pods('app=web')
    expect(new Set(pods.map(({ spec }) => spec.nodeName))).toEqual(new Set(['worker1', 'worker2']))
    await cluster.routePods('node1')
    for (const pod of pods)
      for (const { ip } of pod.status?.podIPs ?? []) {
        expect(await requestFrom('node1', ip, 8080)).toMatchObject({ pod: nameOf(pod), node: pod.spec.nodeName })
        expect(await requestFrom('worker1', ip, 8080)).toMatchObject({ pod: nameOf(pod) })
      }
  })

  it('balances a cluster IP by the real kube-proxy, from nodes and from pods, in both families', async () => {
    const [pod] = await cluster.pods('app=web')
    const reached = new Set<string>()
    for (const address of service.spec.clusterIPs ?? [])
      for (const place of ['worker1', 'worker2', cluster.podPlace(pod as Pod)]) {
        const answer = await waitFor(() => requestFrom(place, address, 80), { what: `${address} to answer ${place}` })
        reached.add(answer.pod)
      }
    await waitFor(
      async () => reached.add((await requestFrom('worker1', service.spec.clusterIP ?? '', 80))?.pod ?? '').size >= 3,
      {
        what: 'all three pods to be reached',
      },
    )
  })

  it('answers node ports to clients outside, TCP and UDP', async () => {
    const portOf = (name: string) => service.spec.ports.find((port) => port.name === name)?.nodePort ?? 0
    for (const { addresses } of cluster.nodes)
      for (const address of addresses)
        await waitFor(() => requestFrom('client', address, portOf('http')), { what: `node port of ${address}` })
    const [address] = cluster.node('worker1').addresses
    const script = `exec 3<>/dev/udp/${address}/${portOf('echo')}; printf ping >&3; timeout 2 head -c 5 <&3`
    expect(await lab.must('client', ['bash', '-c', script])).toMatch(/^web-/)
  })

  it('answers for the health of nodes on their addresses: kubelet and kube-proxy', async () => {
    for (const { addresses } of cluster.nodes)
      for (const port of [10248, 10256])
        expect(
          (await lab.run('client', ['curl', '-sf', '-m', '2', `http://${addresses[0]}:${port}/healthz`])).code,
        ).toBe(0)
  })

  it('shows through healthCheckNodePort which nodes have a pod, with externalTrafficPolicy Local', async () => {
    const [pod] = await cluster.pods('app=web')
    const [label, value] = Object.entries(pod?.metadata.labels ?? {}).find(([key]) => key === 'pod-template-hash') ?? []
    const only = { ...LABELS, [label ?? '']: value, alone: 'yes' }
    await cluster.api.patch(`${DEFAULT}/pods/${nameOf(pod)}`, { metadata: { labels: { alone: 'yes' } } })
    const { spec } = await cluster.api.create(`${DEFAULT}/services`, {
      metadata: { name: 'local' },
      spec: {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        selector: only,
        ports: [{ port: 80, targetPort: 'http' }],
      },
    })
    const { healthCheckNodePort } = spec as Service['spec']
    for (const { name, addresses } of cluster.nodes) {
      const expected = name === pod?.spec.nodeName ? '200' : '503'
      const url = `http://${addresses[0]}:${healthCheckNodePort}/healthz`
      const asked = ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '-m', '2', url]
      await waitFor(async () => (await lab.run('client', asked)).stdout === expected, {
        what: `${expected} of ${name}`,
      })
    }
    await cluster.api.delete(`${DEFAULT}/services/local`)
  })

  it('takes a pod out of the EndpointSlice when it is not ready, and puts it back', async () => {
    const [pod] = await cluster.readyPods(3, 'app=web')
    cluster.setReady(pod as Pod, false)
    await waitFor(async () => (await endpoints()).some((endpoint) => endpoint.pod === nameOf(pod) && !endpoint.ready), {
      what: 'the endpoint not to be ready',
    })
    cluster.setReady(pod as Pod, true)
    await waitFor(async () => (await endpoints()).filter(({ ready }) => ready).length === 3, {
      what: 'three endpoints',
    })
  })

  it('lets a deleted pod finish its work, terminating in the EndpointSlice, then gone from it', async () => {
    const [pod] = await cluster.readyPods(3, 'app=web')
    const { podIP = '' } = pod?.status ?? {}
    const slow = requestFrom('worker1', podIP, 8080, '/delay?ms=1500')
    const connections = ['ss', '-Htn', 'state', 'established', 'src', `${podIP}:8080`]
    await waitFor(async () => (await lab.must(cluster.podPlace(pod as Pod), connections)) !== '', {
      what: 'the request',
    })
    await cluster.api.delete(`${DEFAULT}/pods/${nameOf(pod)}`)
    await waitFor(
      async () => (await endpoints()).some((endpoint) => endpoint.pod === nameOf(pod) && endpoint.terminating),
      {
        what: 'the endpoint to be terminating',
      },
    )
    expect(await slow).toMatchObject({ pod: nameOf(pod) })
    await waitFor(async () => (await endpoints()).every((endpoint) => endpoint.pod !== nameOf(pod)), {
      what: 'the endpoint to be gone',
    })
    await cluster.readyPods(3, 'app=web')
  })

  it('keeps pods while a killed kubelet restarts, and restarts containers that exit', async () => {
    const pods = await cluster.readyPods(3, 'app=web')
    const mine = pods.find(({ spec }) => spec.nodeName === 'worker1') as Pod
    const address = mine.status?.podIP ?? ''
    await cluster.node('worker1').stopKubelet()
    expect(await requestFrom('worker2', address, 8080)).toMatchObject({ pod: nameOf(mine) })
    await cluster.node('worker1').startKubelet()
    const [pid = ''] = (await lab.must('host', ['ip', 'netns', 'pids', lab.namespace(cluster.podPlace(mine))])).split(
      '\n',
    )
    process.kill(Number(pid), 'SIGKILL')
    await waitFor(async () => (await cluster.pods('app=web')).some((pod) => restartsOf(pod) === 1), {
      what: 'a restart',
    })
    expect((await cluster.readyPods(3, 'app=web')).map(nameOf).toSorted()).toEqual(pods.map(nameOf).toSorted())
  })

  it('puts no pods on a cordoned node, and moves all away from one that is taken out', async () => {
    await cluster.addNode('worker3', { zone: 'z' })
    await cluster.api.patch('/api/v1/nodes/worker3', { spec: { unschedulable: true } })
    await cluster.removeNode('worker2')
    const pods = await cluster.readyPods(3, 'app=web')
    expect(new Set(pods.map(({ spec }) => spec.nodeName))).toEqual(new Set(['worker1']))
    expect(lab.process('kubelet-worker2')).toBeNull()
  })

  it('forwards on while the API server is away, and has old objects and revisions after a restored backup', async () => {
    const before = await revision()
    const backup = await cluster.controlPlane.backup()
    await cluster.createNamespace('later')
    await cluster.controlPlane.stopApiServer()
    await waitFor(() => requestFrom('worker1', service.spec.clusterIP ?? '', 80), {
      what: 'an answer without API server',
    })
    await cluster.controlPlane.restore(backup)
    await expect(cluster.api.get('/api/v1/namespaces/later')).rejects.toMatchObject({ status: 404, reason: 'NotFound' })
    expect(await revision()).toBeLessThan(before + 1000)
    await cluster.readyPods(3, 'app=web')
  })

  it('ends a watch from before a compaction with 410', async () => {
    const old = await revision()
    await cluster.api.patch(`${DEFAULT}/services/web`, { metadata: { annotations: { changed: 'yes' } } })
    await cluster.controlPlane.compact()
    await cluster.controlPlane.stopApiServer()
    await cluster.controlPlane.startApiServer()
    const watch = cluster.api.watch<{ code: number }>('/api/v1/services', String(old), AbortSignal.timeout(10_000))
    const first = await watch.next()
    expect(first.value).toMatchObject({ type: 'ERROR', object: { code: 410 } })
    await watch.return(undefined)
  })
})

const revision = async (): Promise<number> =>
  Number((await cluster.api.list('/api/v1/services')).metadata.resourceVersion)

const restartsOf = (pod: Pod): number =>
  (pod.status as { containerStatuses?: readonly { restartCount: number }[] }).containerStatuses?.[0]?.restartCount ?? 0
