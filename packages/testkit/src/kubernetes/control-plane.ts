import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Lab } from '../lab/lab.ts'
import { waitFor } from '../lab/wait-for.ts'
import { KubernetesApi } from './api.ts'
import { type Credentials, makeCredentials } from './credentials.ts'
import { API_CLUSTER_IPS, addControlPlanePlace, controlPlaneAddress, POD_CIDRS, SERVICE_CIDRS } from './network.ts'

/** The controllers that run: those for workloads, Services and nodes; none for clouds, volumes or addresses. */
const CONTROLLERS = [
  'clusterrole-aggregation-controller',
  'cronjob-controller',
  'daemonset-controller',
  'deployment-controller',
  'disruption-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'garbage-collector-controller',
  'job-controller',
  'namespace-controller',
  'node-lifecycle-controller',
  'persistentvolume-binder-controller',
  'pod-garbage-collector-controller',
  'replicaset-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'statefulset-controller',
  'taint-eviction-controller',
]

/**
 * How often Go collects garbage. A start of the three parts takes 4.1 s of processor time with GOGC=50, 3.1 s with the
 * usual 100, and 2.8 s with 200, of which collecting is 2.2 s, 0.75 s and 0.7 s (gctrace). The API server is then 90 MB
 * larger than with 50. Benchmarks take the usual figure.
 */
const GARBAGE: Readonly<Record<ControlPlaneSpec['garbage'], Readonly<Record<string, string>>>> = {
  rare: { GOGC: '200' },
  usual: {},
}

/** Flags of an API server at port 6443 of an address. */
export function apiServerFlags(
  { caFile, certificateFile, keyFile, tokensFile, serviceAccountKeyFile }: Credentials,
  { etcdUrl, address }: { readonly etcdUrl: string; readonly address: string },
): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    '--secure-port=6443',
    `--tls-cert-file=${certificateFile}`,
    `--tls-private-key-file=${keyFile}`,
    `--client-ca-file=${caFile}`,
    // Kubelets know it by its own certificate.
    `--kubelet-client-certificate=${certificateFile}`,
    `--kubelet-client-key=${keyFile}`,
    `--kubelet-certificate-authority=${caFile}`,
    '--kubelet-preferred-address-types=InternalIP',
    `--token-auth-file=${tokensFile}`,
    '--authorization-mode=RBAC',
    '--anonymous-auth=false',
    `--service-account-key-file=${serviceAccountKeyFile}`,
    `--service-account-signing-key-file=${serviceAccountKeyFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-cluster-ip-range=${SERVICE_CIDRS.join(',')}`,
    '--allow-privileged=true',
    '--profiling=false',
    // Without this, its own loopback client waits for a grace period at every stop.
    '--shutdown-delay-duration=0s',
  ]
}

export interface ControlPlaneSpec {
  readonly lab: Lab
  /** Name of the place and prefix of the process names. */
  readonly name: string
  /** Number of the cluster in its lab. */
  readonly number: number
  readonly program: string
  readonly directory: string
  /** Flags of the API server in addition to ours; the last of a name wins. */
  readonly apiServerFlags: readonly string[]
  readonly controllerManagerFlags: readonly string[]
  readonly garbage: 'rare' | 'usual'
}

export type ControlPlaneRole = 'etcd' | 'kube-apiserver' | 'kube-controller-manager'

/** etcd, the API server and the controller manager of one cluster, in a namespace of their own. */
export class KubernetesControlPlane {
  readonly spec: ControlPlaneSpec
  readonly credentials: Credentials
  /** API client of the cluster's administrator. */
  readonly api: KubernetesApi

  constructor(spec: ControlPlaneSpec, credentials: Credentials) {
    this.spec = spec
    this.credentials = credentials
    this.api = new KubernetesApi({ url: urlOf(spec), caFile: credentials.caFile, token: credentials.tokens.admin })
  }

  /** Creates the namespace and the credentials, starts everything and waits until the API server is ready. */
  static async create(spec: ControlPlaneSpec): Promise<KubernetesControlPlane> {
    const { lab, name, number, directory } = spec
    mkdirSync(directory, { recursive: true })
    await addControlPlanePlace(lab.namespace('fabric'), lab.namespace(name), lab.number, number)
    const subjects = [
      '127.0.0.1',
      controlPlaneAddress(lab.number, number),
      ...API_CLUSTER_IPS,
      'kubernetes.default.svc',
    ]
    const credentials = await makeCredentials(path.join(directory, 'credentials'), urlOf(spec), subjects)
    const controlPlane = new KubernetesControlPlane(spec, credentials)
    await controlPlane.startEtcd()
    await controlPlane.startApiServer()
    await controlPlane.startControllerManager()
    return controlPlane
  }

  get url(): string {
    return urlOf(this.spec)
  }

  get #address(): string {
    return controlPlaneAddress(this.spec.lab.number, this.spec.number)
  }

  get #etcdUrl(): string {
    return `http://${this.#address}:2379`
  }

  get #dataDirectory(): string {
    return path.join(this.spec.directory, 'etcd')
  }

  async startEtcd(): Promise<void> {
    await this.#start('etcd', [`--data-dir=${this.#dataDirectory}`, `--listen-client-url=${this.#etcdUrl}`], {
      readyText: 'etcd is ready',
    })
  }

  /** Starts the API server and waits until it is ready. */
  async startApiServer(): Promise<void> {
    const flags = apiServerFlags(this.credentials, { etcdUrl: this.#etcdUrl, address: this.#address })
    await this.#start('kube-apiserver', [...flags, ...this.spec.apiServerFlags])
    await this.#untilHealthy('kube-apiserver', async () => (await this.api.text('GET', '/readyz')) === 'ok')
  }

  /** Stops the API server, by default with SIGKILL. Forwarding, pods and kube-proxy go on. */
  async stopApiServer(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    await this.#stop('kube-apiserver', signal)
  }

  async startControllerManager(): Promise<void> {
    const { caFile, kubeconfigs, serviceAccountKeyFile } = this.credentials
    await this.#start('kube-controller-manager', [
      `--kubeconfig=${kubeconfigs.controllerManager}`,
      `--service-account-private-key-file=${serviceAccountKeyFile}`,
      `--root-ca-file=${caFile}`,
      `--controllers=${CONTROLLERS.join(',')}`,
      `--cluster-cidr=${POD_CIDRS.join(',')}`,
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      '--profiling=false',
      '--kube-api-qps=500',
      '--kube-api-burst=1000',
      ...this.spec.controllerManagerFlags,
    ])
  }

  async stopControllerManager(signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    await this.#stop('kube-controller-manager', signal)
  }

  /**
   * Copies the database as it is now.
   *
   * @returns what `restore` takes
   */
  async backup(): Promise<string> {
    const target = path.join(this.spec.directory, `backup-${Date.now()}`)
    const etcd = this.#process('etcd')
    // While etcd is stopped its files are as after a crash, and etcd can start from them.
    process.kill(etcd.pid, 'SIGSTOP')
    try {
      cpSync(this.#dataDirectory, target, { recursive: true })
    } finally {
      process.kill(etcd.pid, 'SIGCONT')
    }
    return target
  }

  /**
   * Replaces the database with a backup: the API server comes back with older objects, and uses revisions again that
   * meant something else since.
   */
  async restore(backup: string): Promise<void> {
    if (!existsSync(backup)) throw new Error(`there is no backup ${backup}`)
    await this.stopApiServer()
    await this.#stop('etcd', 'SIGTERM')
    const old = `${this.#dataDirectory}-replaced`
    renameSync(this.#dataDirectory, old)
    cpSync(backup, this.#dataDirectory, { recursive: true })
    rmSync(old, { recursive: true })
    await this.startEtcd()
    await this.startApiServer()
  }

  /**
   * Compacts etcd's history up to now. The API server still serves older revisions from its cache until it is
   * restarted: after a compaction and a restart, a watch from an older revision ends with 410.
   */
  async compact(): Promise<void> {
    const { metadata } = await this.api.list('/api/v1/namespaces?limit=1')
    const response = await fetch(`${this.#etcdUrl}/v3/kv/compaction`, {
      method: 'POST',
      body: JSON.stringify({ revision: metadata.resourceVersion, physical: true }),
    })
    if (!response.ok) throw new Error(`etcd refused to compact: ${response.status} ${await response.text()}`)
  }

  /** Stops everything; the namespace and the files stay. */
  async stop(): Promise<void> {
    this.api.close()
    for (const role of ['kube-controller-manager', 'kube-apiserver', 'etcd'] as const) await this.#stop(role, 'SIGKILL')
  }

  #daemonName(role: ControlPlaneRole): string {
    return `${this.spec.name}-${role}`
  }

  #process(role: ControlPlaneRole) {
    const found = this.spec.lab.process(this.#daemonName(role))
    if (found === null) throw new Error(`${role} is not running`)
    return found
  }

  /** Process id of a part. @throws Error when it does not run */
  pid(role: ControlPlaneRole): number {
    return this.#process(role).pid
  }

  async #start(role: ControlPlaneRole, flags: readonly string[], options: { readonly readyText?: string } = {}) {
    const { lab, name, program } = this.spec
    const argv = [program, role, ...flags]
    await lab.start(name, this.#daemonName(role), argv, { env: GARBAGE[this.spec.garbage], ...options })
  }

  async #stop(role: ControlPlaneRole, signal: NodeJS.Signals): Promise<void> {
    const found = this.spec.lab.process(this.#daemonName(role))
    if (found !== null) await this.spec.lab.stop(found, signal)
  }

  async #untilHealthy(role: ControlPlaneRole, healthy: () => Promise<boolean>): Promise<void> {
    const log = path.join(this.spec.lab.directory, `${this.#daemonName(role)}.log`)
    const running = () => this.spec.lab.process(this.#daemonName(role)) !== null
    const state = await waitFor(async () => (running() ? (await healthy()) && 'ready' : 'ended'), {
      what: `${role} to be ready`,
      // Three seconds of processor time, of which it may get a twentieth while everything else starts.
      timeoutMs: 180_000,
      everyMs: 50,
    }).catch((error: Error) => error.message)
    // The file may be deleted with the lab, so its end is quoted in the error.
    if (state !== 'ready')
      throw new Error(`${role}: ${state}; ${log} ends with:\n${readFileSync(log, 'utf8').slice(-2000)}`)
  }
}

const urlOf = ({ lab, number }: ControlPlaneSpec): string => `https://${controlPlaneAddress(lab.number, number)}:6443`
