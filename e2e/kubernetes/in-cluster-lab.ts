import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import {
  bundled,
  Caller,
  checkoutShell,
  ensureHelm,
  type Kubernetes,
  KubernetesCluster,
  type KubernetesOptions,
  Lab,
  must,
  PRODUCT_ENVIRONMENT,
  TypedPage,
  waitFor,
} from '@spout/testkit'
import type { PodAnswer } from './service-lab.ts'
import type { BalancedService } from './services.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const SPOUT_COMMAND = bundled(path.join(ROOT, 'apps/cli/src/main.ts'))
/** In the registry of the page, where an administrator has pushed it. */
const IMAGE = 'registry.example.net/spout'
/** Of the page whose commands the test types. */
const PAGE = 'kubernetes-in-cluster.md'
export const WORKERS = ['worker1', 'worker2'] as const
/** What an installation runs beside control planes, in the order in which it comes up. */
const COMPONENTS = [
  ['configuration', 1],
  ['connector', 2],
  ['agent', WORKERS.length],
] as const
const SPOUT = 'spout'

/**
 * A cluster whose nodes are on the fabric, reachable by clients, and without Spout: everything of Spout comes from the
 * chart, by the commands of the page. Programs are started by the image's own entry point.
 * @param others programs of other images
 */
export async function startInClusterLab(others: NonNullable<KubernetesOptions['images']> = {}) {
  const helm = await ensureHelm()
  const lab = await Lab.create()
  const image = makeImage(lab)
  const cluster = await KubernetesCluster.start(lab, {
    segment: 'fabric',
    images: { ...others, [IMAGE]: ['sh', '-c', imageScript(lab, image), 'spout'] },
  })
  await Promise.all(WORKERS.map((name) => cluster.addNode(name)))
  const client = await Caller.start(lab, 'client')
  const volume = path.join(lab.directory, 'volume')
  mkdirSync(volume)
  await cluster.api.create('/api/v1/persistentvolumes', {
    metadata: { name: 'local' },
    spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: volume } },
  })
  // A checkout on a machine outside the cluster, whose loopback addresses are its own.
  const shell = checkoutShell({
    ...{ lab, cluster, place: 'node1' },
    env: { ...PRODUCT_ENVIRONMENT, HELM_CACHE_HOME: path.join(lab.directory, 'helm') },
    programs: { helm: [helm], node: [process.execPath], spout: [process.execPath, SPOUT_COMMAND] },
  })
  const kubectl = (...words: readonly string[]) => must([...cluster.kubectl, ...words])
  const pods = (component: string) => cluster.pods(`app.kubernetes.io/component=${component}`, SPOUT)
  const ask = async (address: string): Promise<PodAnswer | null> => {
    const outcome = await client.http(address, 80)
    return outcome.ok && outcome.value.status === 200 ? (JSON.parse(outcome.value.body) as PodAnswer) : null
  }
  const service = (name: string) => cluster.api.get<BalancedService>(`/api/v1/namespaces/default/services/${name}`)
  /** The load balancer of this name, if a node announces it: its id, and the node. */
  const announced = async (name: string): Promise<{ readonly id: string; readonly owner: string } | null> => {
    const { items } = await cluster.api.list<ShownLoadBalancer>('/apis/spout.dev/v1alpha1/observedloadbalancers')
    const found = items.find(({ spec }) => spec.name === name)
    const owner = found?.status?.owner ?? ''
    return found === undefined || owner === '' ? null : { id: found.metadata.name, owner }
  }
  /** Waits until exactly this many pods of a component exist and are ready. */
  const ready = async (component: string, count: number): Promise<readonly Kubernetes.Pod[]> =>
    waitFor(() => cluster.readyPods(count, `app.kubernetes.io/component=${component}`, SPOUT), {
      what: `${count} pods of ${component}; the last wrote ${lastWords(cluster, await pods(component))}`,
      timeoutMs: 120_000,
    })
  return {
    lab,
    cluster,
    client,
    /** Directory of the control plane's volume. */
    volume,
    kubectl,
    /** The page, whose commands an administrator types in a checkout. */
    page: new TypedPage(PAGE, shell),
    shell,
    pods,
    ask,
    service,
    apply: (text: string) => must([...cluster.kubectl, 'apply', '--filename', '-'], { input: text }),
    ready,
    /** Waits until all that an installation runs is ready. */
    allReady: async ({ controlPlanes = 1 } = {}): Promise<void> => {
      for (const [component, count] of [['control-plane', controlPlanes] as const, ...COMPONENTS])
        await ready(component, count)
    },
    /** The address of a Service once a pod answers on it. */
    answering: (name: string, timeoutMs = 60_000) =>
      waitFor(
        async () => {
          const address = (await service(name)).status?.loadBalancer?.ingress?.[0]?.ip ?? ''
          return address !== '' && (await ask(address)) !== null && address
        },
        { what: `${name} to answer`, timeoutMs },
      ),
    announced,
    /** The node that announces the load balancer of this name. */
    owner: async (name: string): Promise<string> =>
      (await waitFor(() => announced(name), { what: `an owner of ${name}` })).owner,
    destroy: async () => {
      await client[Symbol.asyncDispose]()
      await cluster.destroy()
      await lab.destroy()
      rmSync(image, { recursive: true })
    },
  }
}

export type InClusterLab = Awaited<ReturnType<typeof startInClusterLab>>

interface ShownLoadBalancer extends Kubernetes.KubernetesObject {
  readonly spec: { readonly name: string }
  readonly status?: { readonly owner?: string }
}

function lastWords(cluster: KubernetesCluster, pods: readonly Kubernetes.Pod[]): string {
  const pod = pods.at(-1)
  return pod?.spec.nodeName === undefined
    ? 'nothing'
    : cluster.podLog(pod, pod.spec.containers[0]?.name ?? '').slice(-1500)
}

/**
 * What stands for the content of the image: its entry point, with bundles of the programs in place of their sources.
 * @returns a directory that users of pods can read
 */
function makeImage({ id }: Lab): string {
  const image = path.join(ROOT, 'build', `image-${id}`)
  const entrypoint = 'deploy/image/entrypoint.sh'
  mkdirSync(path.join(image, path.dirname(entrypoint)), { recursive: true })
  copyFileSync(path.join(ROOT, entrypoint), path.join(image, entrypoint))
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(image, 'node_modules'))
  for (const program of ['agent', 'connector', 'control-plane']) {
    const main = `apps/${program}/src/main.ts`
    mkdirSync(path.join(image, path.dirname(main)), { recursive: true })
    symlinkSync(bundled(path.join(ROOT, main)), path.join(image, main))
  }
  return image
}

/**
 * Stands for the image: its entry point, and for an agent what a machine of its own would give it. Here two nodes share
 * one kernel's namespace names and one file system.
 */
function imageScript(lab: Lab, image: string): string {
  const native = path.join(ROOT, 'native/build')
  const numbers = WORKERS.map((name, index) => `${name}) number=${index + 1} ;;`).join(' ')
  return `if [ "$1" = agent ]; then
  case $NODE_NAME in ${numbers} esac
  export SPOUT_AGENT_INSTANCE=${lab.id}n$number SPOUT_AGENT_HAPROXY_CGROUP=spout-${lab.id}n$number
  export SPOUT_AGENT_HELPER_PATH=${native}/spout-helper SPOUT_AGENT_VRRP_MOVER=${native}/spout-mover
  export SPOUT_AGENT_HAPROXY_PASSWORDS=${native}/spout-passwords
  export SPOUT_AGENT_FLOWS_EXECUTABLE=${native}/spout-flows SPOUT_AGENT_ACCESS_LOGS_SENDER=${native}/spout-syslog
fi
exec ${image}/deploy/image/entrypoint.sh "$@"
`
}
