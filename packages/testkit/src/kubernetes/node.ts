import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Lab } from '../lab/lab.ts'
import { killPid, pidsIn } from '../lab/namespace-processes.ts'
import { must, run } from '../lab/run.ts'
import { waitFor } from '../lab/wait-for.ts'
import { PRODUCT_ENVIRONMENT } from '../system/system.ts'
import type { KubernetesPrograms } from './build.ts'
import type { KubernetesControlPlane } from './control-plane.ts'
import { type CertificateFiles, issueCertificate } from './credentials.ts'
import { KUBELET_PORT, type KubeletConfig, podPlaceName } from './kubelet/config.ts'
import type { Images } from './kubelet/images.ts'
import { readPodRecords } from './kubelet/pod-record.ts'
import {
  addNodePlace,
  type NodeNetwork,
  type NodeSegment,
  nodeManagementPort,
  nodeNetwork,
  nodePort,
  POD_CIDRS,
} from './network.ts'
import { conditionOf, type Node } from './objects.ts'

const KUBELET_PROGRAM = path.join(import.meta.dirname, 'kubelet', 'kubelet-program.ts')
const PROXY_HEALTH_PORT = 10256

/** What of kube-proxy a node runs. Mode ipvs needs a kernel with IPVS. */
export type ProxyMode = 'nftables' | 'iptables' | 'none'

export interface NodeSpec {
  readonly name: string
  /** Number of the node in its cluster, from 0. */
  readonly index: number
  readonly labels: Readonly<Record<string, string>>
}

/** What all nodes of a cluster share. */
export interface NodeSurroundings {
  readonly lab: Lab
  readonly controlPlane: KubernetesControlPlane
  readonly programs: KubernetesPrograms
  readonly segment: NodeSegment
  readonly images: Images
  readonly proxyFlags: readonly string[]
}

/** A node: a place of the lab with our kubelet and the real kube-proxy in it. */
export class KubernetesNode {
  readonly name: string
  readonly spec: NodeSpec
  readonly network: NodeNetwork
  readonly #around: NodeSurroundings

  constructor(around: NodeSurroundings, spec: NodeSpec) {
    this.name = spec.name
    this.spec = spec
    this.network = nodeNetwork(around.lab.number, this.#clusterOf(around), around.segment, spec.index)
    this.#around = around
  }

  #clusterOf({ controlPlane }: NodeSurroundings): number {
    return controlPlane.spec.number
  }

  /** The node's InternalIP addresses, IPv4 first. */
  get addresses(): readonly [string, string] {
    return this.network.addresses
  }

  /** The switch's ends of its cables; that of its segment first. */
  get ports(): readonly string[] {
    const [cluster, { index }] = [this.#clusterOf(this.#around), this.spec]
    return [nodePort(cluster, index), nodeManagementPort(cluster, index)]
  }

  /** Its own processes, then those of its pods. */
  async processes(): Promise<readonly number[]> {
    return (await Promise.all(this.#namespaces.toReversed().map(pidsIn))).flat()
  }

  get #fabric(): string {
    return this.#around.lab.namespace('fabric')
  }

  /** Directory of the records, logs and switches of its pods. */
  get directory(): string {
    return path.join(this.#around.controlPlane.spec.directory, this.name)
  }

  /** Creates the namespace and the Node object, and starts both programs. */
  async create(): Promise<void> {
    const { lab, controlPlane, segment } = this.#around
    const cluster = this.#clusterOf(this.#around)
    const { index } = this.spec
    const { network } = this
    const namespace = lab.namespace(this.name)
    await addNodePlace({ fabric: this.#fabric, namespace, cluster, index, segment, network })
    mkdirSync(this.directory, { recursive: true })
    await issueCertificate(controlPlane.credentials, this.#serving, this.name, network.addresses)
    await this.#createObject()
    await Promise.all([this.startKubelet(), this.startProxy()])
  }

  async #createObject(): Promise<void> {
    const { api } = this.#around.controlPlane
    const { addresses, podCidrs } = this.network
    await api.create<Node>('/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: this.name,
        labels: { 'kubernetes.io/hostname': this.name, 'kubernetes.io/os': 'linux', ...this.spec.labels },
      },
      spec: { podCIDR: podCidrs[0], podCIDRs: podCidrs },
    })
    const capacity = { cpu: '2', memory: '4Gi', pods: '200' }
    const status = {
      addresses: [
        ...addresses.map((address) => ({ type: 'InternalIP', address })),
        { type: 'Hostname', address: this.name },
      ],
      capacity,
      allocatable: capacity,
      daemonEndpoints: { kubeletEndpoint: { Port: KUBELET_PORT } },
    }
    await api.patchByKey(`/api/v1/nodes/${this.name}/status`, { status })
  }

  get #serving(): CertificateFiles {
    return {
      certificateFile: path.join(this.directory, 'kubelet.crt'),
      keyFile: path.join(this.directory, 'kubelet.key'),
    }
  }

  get #kubeletName(): string {
    return `kubelet-${this.name}`
  }

  get #proxyName(): string {
    return `kube-proxy-${this.name}`
  }

  /** Starts the kubelet; it takes over pods that an earlier one started. */
  async startKubelet(): Promise<void> {
    const { lab, controlPlane, programs, images } = this.#around
    const config: KubeletConfig = {
      access: controlPlane.api.access,
      node: this.name,
      addresses: this.network.addresses,
      podCidrs: this.network.podCidrs,
      namespace: lab.namespace(this.name),
      serving: { ...this.#serving, caFile: controlPlane.credentials.caFile },
      podNamespacePrefix: lab.namespace(''),
      directory: this.directory,
      podProgram: programs.pod,
      images,
    }
    const file = path.join(this.directory, 'kubelet.config')
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
    const argv = [process.execPath, '--max-semi-space-size=1', KUBELET_PROGRAM, file]
    await lab.start(this.name, this.#kubeletName, argv, { readyText: 'ready', env: PRODUCT_ENVIRONMENT })
  }

  /** Kills the kubelet; its pods go on. The node lifecycle controller notices after its grace period. */
  async stopKubelet(): Promise<void> {
    await this.#stop(this.#kubeletName, 'SIGKILL')
  }

  async startProxy(mode: Exclude<ProxyMode, 'none'> = 'nftables'): Promise<void> {
    const { lab, controlPlane, programs, proxyFlags } = this.#around
    const argv = [
      ...[programs.controlPlane, 'kube-proxy', `--kubeconfig=${controlPlane.credentials.kubeconfigs.proxy}`],
      ...[`--proxy-mode=${mode}`, `--hostname-override=${this.name}`, `--cluster-cidr=${POD_CIDRS.join(',')}`],
      // Zeros stop it from changing sysctls of the machine.
      ...['--conntrack-max-per-core=0', '--conntrack-tcp-timeout-established=0'],
      ...['--conntrack-tcp-timeout-close-wait=0', `--healthz-bind-address=0.0.0.0:${PROXY_HEALTH_PORT}`],
      ...proxyFlags,
    ]
    await lab.start(this.name, this.#proxyName, argv)
  }

  /** Kills kube-proxy; its rules stay in the kernel. */
  async stopProxy(): Promise<void> {
    await this.#stop(this.#proxyName, 'SIGKILL')
  }

  /** Replaces kube-proxy by one in another mode, or by none. Its rules of the former mode are removed, as it does itself. */
  async replaceProxy(mode: ProxyMode): Promise<void> {
    const { lab, programs } = this.#around
    await this.stopProxy()
    if (mode === 'none') {
      await lab.must(this.name, [programs.controlPlane, 'kube-proxy', '--cleanup'])
      return
    }
    await this.startProxy(mode)
    await this.untilReady()
  }

  /** Waits until the API server reports the node ready and kube-proxy has its rules in place. */
  async untilReady(): Promise<void> {
    const { lab, controlPlane } = this.#around
    const url = `http://127.0.0.1:${PROXY_HEALTH_PORT}/healthz`
    await waitFor(
      async () => {
        const node = await controlPlane.api.get<Node>(`/api/v1/nodes/${this.name}`)
        if (conditionOf(node, 'Ready')?.status !== 'True' || (node.spec?.taints ?? []).length > 0) return false
        return (await lab.run(this.name, ['curl', '-sf', '-m', '2', url])).code === 0
      },
      { what: `node ${this.name} to be ready`, timeoutMs: 60_000, everyMs: 50 },
    )
  }

  /** Cuts or mends the node's data cable; its link to the API server stays. */
  async cable(state: 'cut' | 'mended'): Promise<void> {
    const port = nodePort(this.#clusterOf(this.#around), this.spec.index)
    await must(['ip', '-n', this.#fabric, 'link', 'set', 'dev', port, state === 'cut' ? 'down' : 'up'])
  }

  /** Power loss: every process of the node and of its pods ends at once. The objects stay. */
  async powerOff(): Promise<void> {
    await this.cable('cut')
    // The kubelet first, because it would restart the others.
    await this.stopKubelet()
    for (const namespace of this.#namespaces) for (const pid of await pidsIn(namespace)) killPid(pid)
  }

  /** Removes the processes and namespaces of the node and its pods. */
  async destroy(): Promise<void> {
    await this.powerOff().catch(() => {})
    const namespaces = this.#namespaces
    await waitFor(async () => (await Promise.all(namespaces.map(pidsIn))).flat().length === 0, {
      what: `the processes of node ${this.name} to end`,
    }).catch(() => {})
    for (const namespace of namespaces) await run(['ip', 'netns', 'delete', namespace])
  }

  /** Namespaces of its pods, then its own. */
  get #namespaces(): readonly string[] {
    const { lab } = this.#around
    const records = existsSync(this.directory) ? readPodRecords(this.directory) : []
    const pods = records.filter(({ host }) => host !== null).map(({ uid }) => lab.namespace(podPlaceName(uid)))
    return [...pods, lab.namespace(this.name)]
  }

  async #stop(name: string, signal: NodeJS.Signals): Promise<void> {
    const found = this.#around.lab.process(name)
    if (found !== null) await this.#around.lab.stop(found, signal)
  }
}
