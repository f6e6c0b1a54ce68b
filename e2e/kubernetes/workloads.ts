import { type Kubernetes, killPid, pidsIn, programOf, waitFor } from '@spout/testkit'
import type { ServiceLab } from './service-lab.ts'
import { type BalancedService, servicesIn } from './services.ts'

export interface Workload {
  readonly name: string
  readonly replicas: number
  readonly namespace?: string
  /**
   * How long a pod keeps serving after it was told to end, while it is taken out of rotation, as every polite server
   * does. Kubernetes' own controller of EndpointSlices tries again after 1, 2 and 4 seconds when its cache lags.
   */
  readonly shutdownDelay?: string
  /** Only this node may run it. */
  readonly node?: string
}

interface Deployment {
  readonly spec: { readonly replicas: number }
}

const deployments = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/deployments`

const nodeSelector = (node: string | undefined) => (node === undefined ? {} : { 'kubernetes.io/hostname': node })

/** Pods that answer HTTP on 8080 and datagrams on 9001; resolves once they are ready. */
export async function startWorkload(
  { cluster }: Pick<ServiceLab, 'cluster'>,
  { name, replicas, namespace = 'default', shutdownDelay = '8s', node }: Workload,
): Promise<readonly Kubernetes.Pod[]> {
  const labels = { app: name }
  await cluster.api.create(deployments(namespace), {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 20,
          nodeSelector: nodeSelector(node),
          containers: [
            {
              name: 'web',
              image: 'web',
              ports: [
                { name: 'http', containerPort: 8080 },
                { name: 'echo', containerPort: 9001, protocol: 'UDP' },
              ],
              env: [{ name: 'SHUTDOWN_DELAY', value: shutdownDelay }],
              readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 1, failureThreshold: 1 },
            },
          ],
        },
      },
    },
  })
  return cluster.readyPods(replicas, `app=${name}`, namespace)
}

/** Replaces every pod, one after the other, also by one on another node; resolves once the old ones are gone. */
export async function replacePods(
  { cluster }: Pick<ServiceLab, 'cluster'>,
  name: string,
  round: number,
  node?: string,
): Promise<void> {
  const before = new Set((await cluster.pods(`app=${name}`)).map(({ metadata }) => metadata.uid))
  const spec = node === undefined ? {} : { nodeSelector: nodeSelector(node) }
  const template = { metadata: { annotations: { round: String(round) } }, spec }
  const path = `${deployments('default')}/${name}`
  const { replicas } = (await cluster.api.patch<Deployment>(path, { spec: { template } })).spec
  await waitFor(
    async () => {
      const pods = await cluster.pods(`app=${name}`)
      return pods.length === replicas && pods.every(({ metadata }) => !before.has(metadata.uid))
    },
    { what: `all pods of ${name} to be new`, timeoutMs: 60_000, everyMs: 50 },
  )
}

/** Takes all pods of some Deployments off a node as `kubectl drain` does: cordon, then eviction one by one. */
export async function drainNode({ cluster }: ServiceLab, node: string, apps: readonly string[]): Promise<void> {
  await cluster.api.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable: true } })
  const onNode = async () =>
    (await Promise.all(apps.map((app) => cluster.pods(`app=${app}`))))
      .flat()
      .filter(({ spec }) => spec.nodeName === node)
  for (const { metadata } of await onNode()) {
    const { name, namespace } = metadata
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
    await cluster.api.create(`/api/v1/namespaces/${namespace}/pods/${name}/eviction`, eviction)
  }
  await waitFor(async () => (await onNode()).length === 0, {
    what: `${node} to be empty`,
    timeoutMs: 60_000,
    everyMs: 50,
  })
}

export const uncordon = ({ cluster }: ServiceLab, node: string): Promise<unknown> =>
  cluster.api.patch(`/api/v1/nodes/${node}`, { spec: { unschedulable: null } })

/** Kills a pod's program as in a crash; it is not restarted until `revive`. Works without an API server. */
export async function crash({ cluster, system }: ServiceLab, pod: Kubernetes.Pod): Promise<void> {
  await cluster.node(pod.spec.nodeName ?? '').stopKubelet()
  for (const pid of await pidsIn(system.lab.namespace(cluster.podPlace(pod))))
    if (programOf(pid) === 'pod') killPid(pid)
}

/** Restarts the node's kubelet, which restarts what ended. */
export const revive = ({ cluster }: ServiceLab, pod: Kubernetes.Pod): Promise<void> =>
  cluster.node(pod.spec.nodeName ?? '').startKubelet()

/** Waits until the Service has an address and an endpoint answers there. */
export function answeringIn(lab: ServiceLab, namespace: string, name: string): Promise<string> {
  return waitFor(
    async () => {
      const service = await lab.cluster.api.get<BalancedService>(`${servicesIn(namespace)}/${name}`)
      const address = lab.addressOf(service)
      const port = service.spec.ports[0]?.port
      return address !== '' && (await lab.ask(address, port)) !== null && address
    },
    { what: `${namespace}/${name} to answer`, timeoutMs: 30_000 },
  )
}
