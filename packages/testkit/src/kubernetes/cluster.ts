import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Lab, PlaceName } from '../lab/lab.ts'
import { run } from '../lab/run.ts'
import { waitFor } from '../lab/wait-for.ts'
import { PRODUCT_ENVIRONMENT } from '../system/system.ts'
import type { KubernetesApi } from './api.ts'
import { ensureKubernetes, type KubernetesPrograms } from './build.ts'
import { type ClusterRecord, DEFAULTS, type KubernetesOptions, recordFile, specOf } from './cluster-record.ts'
import { KubernetesControlPlane } from './control-plane.ts'
import { notReadyFile, podLogFile, podPlaceName } from './kubelet/config.ts'
import { addTesterPlace, ipLines, MOST_CLUSTERS, MOST_NODES, podRoutes, removePodRoutes } from './network.ts'
import { KubernetesNode, type NodeSurroundings } from './node.ts'
import { conditionOf, type Pod } from './objects.ts'

const SCHEDULER_PROGRAM = path.join(import.meta.dirname, 'scheduler-program.ts')

/**
 * A real Kubernetes control plane in a lab, with nodes and pods that are namespaces of it. It disappears with the lab;
 * `destroy` removes it earlier.
 */
export class KubernetesCluster implements AsyncDisposable {
  readonly lab: Lab
  readonly controlPlane: KubernetesControlPlane
  readonly #options: Required<KubernetesOptions>
  readonly #programs: KubernetesPrograms
  readonly #nodes = new Map<string, KubernetesNode>()

  private constructor(
    lab: Lab,
    controlPlane: KubernetesControlPlane,
    options: Required<KubernetesOptions>,
    programs: KubernetesPrograms,
  ) {
    this.lab = lab
    this.controlPlane = controlPlane
    this.#options = options
    this.#programs = programs
  }

  /** Builds what is missing, starts the control plane and the scheduler, and waits until pods can be created. */
  static async start(lab: Lab, options: KubernetesOptions = {}): Promise<KubernetesCluster> {
    const whole = { ...DEFAULTS, ...options }
    if (whole.number < 0 || whole.number >= MOST_CLUSTERS)
      throw new Error(`number: ${whole.number} is none of 0 to ${MOST_CLUSTERS - 1}`)
    const programs = await ensureKubernetes()
    const controlPlane = await KubernetesControlPlane.create(specOf(lab, whole, programs))
    const cluster = new KubernetesCluster(lab, controlPlane, whole, programs)
    cluster.#record()
    await cluster.#startScheduler()
    await cluster.#untilServiceAccount('default')
    return cluster
  }

  /** The cluster of this name that an earlier process started in the lab; null for none. */
  static open(lab: Lab, name: string = DEFAULTS.name): KubernetesCluster | null {
    const file = recordFile(lab, name)
    if (!existsSync(file)) return null
    const { options, programs, credentials, nodes } = JSON.parse(readFileSync(file, 'utf8')) as ClusterRecord
    const controlPlane = new KubernetesControlPlane(specOf(lab, options, programs), credentials)
    const cluster = new KubernetesCluster(lab, controlPlane, options, programs)
    for (const node of nodes) cluster.#nodes.set(node.name, new KubernetesNode(cluster.#around, node))
    return cluster
  }

  /** API client of the cluster's administrator. */
  get api(): KubernetesApi {
    return this.controlPlane.api
  }

  /** Reachable from the host, the lab's load-balancer nodes and the cluster's own nodes. */
  get url(): string {
    return this.controlPlane.url
  }

  /** Kubeconfig of the administrator. */
  get kubeconfigFile(): string {
    return this.controlPlane.credentials.kubeconfigs.admin
  }

  /** Command line prefix of `kubectl` as the administrator. */
  get kubectl(): readonly string[] {
    return [...this.#programs.kubectl, `--kubeconfig=${this.kubeconfigFile}`]
  }

  get nodes(): readonly KubernetesNode[] {
    return [...this.#nodes.values()]
  }

  /** Places that the cluster added to the lab, without those of its pods. */
  get places(): readonly { readonly name: PlaceName; readonly what: string }[] {
    return [
      { name: this.#options.name, what: `Kubernetes control plane, ${this.url}` },
      ...this.nodes.map(({ name, addresses }) => ({ name, what: `Kubernetes node, ${addresses.join(', ')}` })),
    ]
  }

  /** @throws Error when there is no node of this name */
  node(name: string): KubernetesNode {
    const found = this.#nodes.get(name)
    if (found === undefined) throw new Error(`there is no node ${name}`)
    return found
  }

  /** Adds a node and waits until it is ready; its name is also the name of its place in the lab. */
  async addNode(name: string, labels: Readonly<Record<string, string>> = {}): Promise<KubernetesNode> {
    if (this.#nodes.has(name) || this.lab.places.some((place) => place.name === name))
      throw new Error(`name: ${name} is taken by another place of the lab`)
    const taken = new Set(this.nodes.map(({ spec }) => spec.index))
    const index = Array.from({ length: MOST_NODES }, (_, number) => number).find((number) => !taken.has(number))
    if (index === undefined) throw new Error(`a cluster of the lab has at most ${MOST_NODES} nodes`)
    const node = new KubernetesNode(this.#around, { name, index, labels })
    this.#nodes.set(name, node)
    this.#record()
    await node.create()
    await node.untilReady()
    await this.#routeBetweenNodes()
    return node
  }

  /** Removes a node at once with its pods, and deletes its object. */
  async removeNode(name: string): Promise<void> {
    const node = this.node(name)
    await node.destroy()
    this.#nodes.delete(name)
    this.#record()
    for (const other of this.nodes) await removePodRoutes(this.lab.namespace(other.name), node.network)
    await this.api.delete(`/api/v1/nodes/${name}`)
    const { items } = await this.api.list<Pod>(`/api/v1/pods?fieldSelector=spec.nodeName%3D${name}`)
    for (const { metadata } of items)
      await this.api.delete(`/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`, { gracePeriodSeconds: 0 })
  }

  /** Adds the place `tester`, which reaches the API server and, as a client does, the load balancers' addresses. */
  async addTester(): Promise<PlaceName> {
    await addTesterPlace(this.lab.namespace('fabric'), this.lab.namespace('tester'), this.lab.number)
    return 'tester'
  }

  /** Adds routes in a place of the lab to the pods of all present nodes, through the nodes' addresses. */
  async routePods(place: PlaceName): Promise<void> {
    const namespace = place === 'host' ? null : this.lab.namespace(place)
    await ipLines(
      namespace,
      this.nodes.flatMap(({ network }) => podRoutes(network)),
    )
  }

  /** Pods of a namespace, by label selector such as `app=web`. */
  async pods(selector = '', namespace = 'default'): Promise<readonly Pod[]> {
    const query = selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`
    return (await this.api.list<Pod>(`/api/v1/namespaces/${namespace}/pods${query}`)).items
  }

  /** Waits until exactly this many pods exist, all ready and none being deleted. */
  async readyPods(count: number, selector = '', namespace = 'default'): Promise<readonly Pod[]> {
    return waitFor(
      async () => {
        const pods = await this.pods(selector, namespace)
        const ready = pods.filter(
          (pod) => conditionOf(pod, 'Ready')?.status === 'True' && pod.metadata.deletionTimestamp === undefined,
        )
        return pods.length === count && ready.length === count && pods
      },
      { what: `${count} ready pods of ${selector || namespace}`, timeoutMs: 30_000, everyMs: 20 },
    )
  }

  /** The place of the lab that is the pod: commands run there by `lab.run`. */
  podPlace(pod: Pod): PlaceName {
    return pod.spec.hostNetwork ? (pod.spec.nodeName ?? '') : podPlaceName(pod.metadata.uid ?? '')
  }

  /** Sets the pod program's answer on `/ready`, for a readiness probe. */
  setReady(pod: Pod, ready: boolean): void {
    const file = notReadyFile(this.node(pod.spec.nodeName ?? '').directory, pod.metadata.uid ?? '')
    if (ready) rmSync(file, { force: true })
    else writeFileSync(file, '')
  }

  /** The log of a pod's container, over all its restarts. */
  podLog({ metadata, spec }: Pod, container: string): string {
    const file = podLogFile(this.node(spec.nodeName ?? '').directory, metadata, container)
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  }

  /** Creates a namespace and waits until pods can be created in it. */
  async createNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.api.create('/api/v1/namespaces', { metadata: { name, labels } })
    await this.#untilServiceAccount(name)
  }

  /** Resident memory in MB of every process of the test bed, by name. */
  memoryMb(): Readonly<Record<string, number>> {
    const { name } = this.#options
    const names = [
      ...['etcd', 'kube-apiserver', 'kube-controller-manager', 'scheduler'].map((role) => `${name}-${role}`),
      ...this.nodes.flatMap((node) => [`kubelet-${node.name}`, `kube-proxy-${node.name}`]),
    ]
    return Object.fromEntries(
      names.flatMap((process) => {
        const found = this.lab.process(process)
        const kilobytes = found && /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${found.pid}/status`, 'utf8'))?.[1]
        return kilobytes ? [[process, Math.round(Number(kilobytes) / 1024)]] : []
      }),
    )
  }

  /** Removes everything of the cluster; the lab stays. */
  async destroy(): Promise<void> {
    const scheduler = this.lab.process(this.#schedulerName)
    if (scheduler !== null) await this.lab.stop(scheduler, 'SIGKILL')
    await Promise.all(this.nodes.map((node) => node.destroy()))
    await this.controlPlane.stop()
    await run(['ip', 'netns', 'delete', this.lab.namespace(this.#options.name)])
    rmSync(this.controlPlane.spec.directory, { recursive: true, force: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy()
  }

  get #around(): NodeSurroundings {
    const { segment, images, proxyFlags } = this.#options
    const { lab, controlPlane } = this
    return { lab, controlPlane, programs: this.#programs, segment, images, proxyFlags }
  }

  #record(): void {
    const record: ClusterRecord = {
      options: this.#options,
      programs: this.#programs,
      credentials: this.controlPlane.credentials,
      nodes: this.nodes.map(({ spec }) => spec),
    }
    writeFileSync(recordFile(this.lab, this.#options.name), JSON.stringify(record), { mode: 0o600 })
  }

  get #schedulerName(): string {
    return `${this.#options.name}-scheduler`
  }

  async #startScheduler(): Promise<void> {
    const file = path.join(this.controlPlane.spec.directory, 'scheduler.config')
    writeFileSync(file, JSON.stringify(this.api.access), { mode: 0o600 })
    const argv = [process.execPath, '--max-semi-space-size=1', SCHEDULER_PROGRAM, file]
    await this.lab.start(this.#options.name, this.#schedulerName, argv, {
      readyText: 'ready',
      env: PRODUCT_ENVIRONMENT,
    })
  }

  /** A namespace needs its service account before pods can be created in it. */
  async #untilServiceAccount(namespace: string): Promise<void> {
    await waitFor(() => this.api.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), {
      what: `the service account of namespace ${namespace}`,
      timeoutMs: 30_000,
      everyMs: 50,
    })
  }

  /** Pods of one node reach those of another; the API server reaches pods and kubelets. */
  async #routeBetweenNodes(): Promise<void> {
    for (const node of this.nodes) {
      const others = this.nodes.filter((other) => other !== node)
      await ipLines(
        this.lab.namespace(node.name),
        others.flatMap(({ network }) => podRoutes(network)),
      )
    }
    await ipLines(
      this.lab.namespace(this.#options.name),
      this.nodes.flatMap(({ network: { addresses, podCidrs, managementAddress } }) =>
        [addresses[0], podCidrs[0]].map((to) => `route replace ${to} via ${managementAddress}`),
      ),
    )
  }
}
