import type { ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { KubernetesApi } from '../api.ts'
import type { Container, Pod } from '../objects.ts'
import { type KubeletConfig, notReadyFile, podLogFile, podPlaceName, shortId } from './config.ts'
import { ContainerLog } from './container-log.ts'
import { executeIn, hostNameOf, isReal, startContainer } from './container-process.ts'
import { ContainerRun } from './container-run.ts'
import { Pause } from './pause.ts'
import { addPodNetwork, type PodAddresses, type PodAddressPool, removePodNetwork } from './pod-network.ts'
import { PodObject } from './pod-object.ts'
import { type PodRecord, removePodRecord, writePodRecord } from './pod-record.ts'
import type { PodState } from './pod-status.ts'
import { keepAsking } from './readiness.ts'
import { writeServiceNames } from './service-names.ts'
import { killGroup } from './streaming/upgrades.ts'
import { type Mount, makeVolumes } from './volumes.ts'

const LOOK_EVERY_MS = 100
const DEFAULT_GRACE_S = 30

/**
 * Runs one pod on a node, from its binding to its end. A single loop starts and ends everything, so nothing is done
 * twice at the same time.
 */
export class PodWorker {
  readonly #api: KubernetesApi
  readonly #config: KubeletConfig
  readonly #pool: PodAddressPool
  readonly #runs: readonly ContainerRun[]
  readonly #abandoned = new AbortController()
  #pod: Pod
  #addresses: PodAddresses | null = null
  #startedAt = new Date().toISOString()
  #problem: string | null = null
  readonly #pause = new Pause()
  readonly #object: PodObject
  readonly #commands = new Set<ChildProcess>()

  constructor(api: KubernetesApi, config: KubeletConfig, pool: PodAddressPool, pod: Pod) {
    this.#api = api
    this.#config = config
    this.#pool = pool
    this.#pod = pod
    this.#object = new PodObject(api, this.#abandoned.signal, () => this.#pause.wake())
    this.#runs = pod.spec.containers.map((container) => {
      const log = new ContainerLog(podLogFile(config.directory, pod.metadata, container.name))
      return new ContainerRun(container, log)
    })
  }

  get #uid(): string {
    return this.#pod.metadata.uid ?? ''
  }

  get #link(): string {
    return `p${shortId(this.#uid)}`
  }

  get #namespace(): string {
    return this.#pod.spec.hostNetwork
      ? this.#config.namespace
      : `${this.#config.podNamespacePrefix}${podPlaceName(this.#uid)}`
  }

  get #ips(): readonly string[] {
    return this.#pod.spec.hostNetwork ? this.#config.addresses : (this.#addresses?.ips ?? [])
  }

  /** Takes over a pod that an earlier kubelet started. */
  adopt(record: PodRecord): void {
    this.#startedAt = record.startedAt
    if (record.host !== null) this.#addresses = this.#pool.keep(record.host)
    for (const run of this.#runs) run.process = record.processes[run.container.name] ?? null
  }

  isNamed(namespace: string, name: string): boolean {
    const { metadata } = this.#pod
    return metadata.namespace === namespace && metadata.name === name
  }

  /** The log of a container since a time in Unix milliseconds; null if the pod has no such container. */
  log(container: string, sinceMs: number): Buffer | null {
    return this.#runs.find((run) => run.container.name === container)?.log.since(sinceMs) ?? null
  }

  /** The network namespace in which its containers run; null while none does. */
  get namespace(): string | null {
    return this.#isStopped ? null : this.#namespace
  }

  /**
   * A function that starts a command in a container; null if that does not run. The command ends with the pod at the
   * latest.
   */
  command(name: string, command: readonly string[]): (() => ChildProcess) | null {
    const run = this.#runs.find(({ container }) => container.name === name)
    if (run === undefined || run.process === null || !run.isRunning) return null
    const { container, process } = run
    return () => {
      const child = executeIn(this.#config, { pod: this.#pod, container, process }, command)
      this.#commands.add(child)
      return child.once('close', () => this.#commands.delete(child))
    }
  }

  update(pod: Pod): void {
    this.#pod = pod
    this.#pause.wake()
  }

  /** Call when the object is gone: the pod ends at once. */
  vanish(): void {
    this.#object.vanish()
    this.#pause.wake()
  }

  /** Call when the kubelet stops: the pod's processes continue. */
  abandon(): void {
    this.#abandoned.abort()
    this.#pause.wake()
  }

  /** Runs until the pod is gone, or abandoned. */
  async run(): Promise<void> {
    const probing = this.#runs.map((run) => this.#probe(run))
    while (!this.#leaving && !this.#abandoned.signal.aborted) {
      await this.#startWhatIsNot()
      for (const { log } of this.#runs) log.look(Date.now())
      this.#publish()
      await this.#pause.wait(LOOK_EVERY_MS)
    }
    if (this.#abandoned.signal.aborted) return
    await this.#terminate()
    this.#abandoned.abort()
    await Promise.all(probing)
    await this.#object.idle()
    await this.#object.remove(this.#pod)
  }

  get #leaving(): boolean {
    return this.#object.isGone || this.#pod.metadata.deletionTimestamp !== undefined
  }

  async #startWhatIsNot(): Promise<void> {
    for (const run of this.#runs) {
      if (run.isRunning) continue
      if (run.process !== null) run.ended()
      if (this.#isOver || !run.mayStart || this.#leaving) continue
      try {
        await this.#start(run)
        this.#problem = null
      } catch (error) {
        this.#problem = (error as Error).message
        run.startFailed()
      }
    }
  }

  /** Whether all containers have ended and must not be restarted. */
  get #isOver(): boolean {
    return (this.#pod.spec.restartPolicy ?? 'Always') !== 'Always' && this.#runs.every(({ hasEnded }) => hasEnded)
  }

  async #start(run: ContainerRun): Promise<void> {
    if (!this.#pod.spec.hostNetwork && this.#addresses === null) await this.#connect()
    const mounts = isReal(this.#config, run.container) ? await this.#mounts(run.container) : []
    run.process = await startContainer(this.#config, {
      pod: this.#pod,
      container: run.container,
      namespace: this.#namespace,
      ips: this.#ips,
      logFile: podLogFile(this.#config.directory, this.#pod.metadata, run.container.name),
      mounts,
    })
    this.#note()
  }

  /**
   * Creates the pod's network. It is recorded first, so that whoever removes the node finds the namespace in the
   * record.
   */
  async #connect(): Promise<void> {
    const addresses = this.#pool.take()
    this.#addresses = addresses
    this.#note()
    try {
      await addPodNetwork(this.#namespace, this.#link, addresses)
    } catch (error) {
      await removePodNetwork(this.#namespace, this.#link)
      this.#pool.release(addresses.host)
      this.#addresses = null
      throw error
    }
  }

  #note(): void {
    const processes = Object.fromEntries(
      this.#runs.flatMap(({ container, process }) => (process ? [[container.name, process]] : [])),
    )
    const host = this.#addresses?.host ?? null
    writePodRecord(this.#config.directory, { uid: this.#uid, startedAt: this.#startedAt, host, processes })
  }

  /** The mounts of a container: its volumes, and a file with the names of Services. */
  async #mounts({ volumeMounts = [] }: Container): Promise<readonly Mount[]> {
    const directory = this.#volumesDirectory
    const hostDirectory = path.join(this.#config.directory, 'host')
    const mountsOf = await makeVolumes({ api: this.#api, pod: this.#pod, directory, hostDirectory })
    const hosts = path.join(directory, 'hosts')
    mkdirSync(directory, { recursive: true })
    const name = hostNameOf(this.#config, this.#pod)
    await writeServiceNames(this.#api, this.#pod.metadata.namespace ?? '', { name, ips: this.#ips }, hosts)
    return [...mountsOf(volumeMounts), { source: hosts, target: '/etc/hosts', readOnly: true, isShared: false }]
  }

  get #volumesDirectory(): string {
    return path.join(this.#config.directory, `${shortId(this.#uid)}.volumes`)
  }

  async #probe(run: ContainerRun): Promise<void> {
    if (run.readiness === null) return
    await keepAsking(run.readiness, {
      container: run.container,
      ip: () => (run.isRunning ? (this.#ips[0] ?? null) : null),
      changed: () => this.#pause.wake(),
      problem: (text) => {
        this.#problem = text
      },
      ended: this.#abandoned.signal,
    })
  }

  async #terminate(): Promise<void> {
    const since = performance.now()
    const deadline = () => {
      if (this.#object.isGone) return 0
      const { deletionGracePeriodSeconds } = this.#pod.metadata
      const seconds = deletionGracePeriodSeconds ?? this.#pod.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_S
      return since + seconds * 1000
    }
    const until = async (done: () => boolean) => {
      while (!done() && performance.now() < deadline()) {
        this.#publish()
        await this.#pause.wait(20)
      }
    }
    const preStop = Math.max(0, ...this.#runs.map(({ container }) => container.lifecycle?.preStop?.sleep?.seconds ?? 0))
    await until(() => performance.now() >= since + preStop * 1000 || this.#isStopped)
    for (const run of this.#runs) run.signal('SIGTERM')
    await until(() => this.#isStopped)
    for (const run of this.#runs) run.signal('SIGKILL')
    while (!this.#isStopped) await this.#pause.wait(5)
    for (const child of this.#commands) killGroup(child)
    await this.#object.idle()
    this.#publish()
    await this.#object.idle()
    await this.#takeDown()
  }

  get #isStopped(): boolean {
    return this.#runs.every(({ isRunning }) => !isRunning)
  }

  async #takeDown(): Promise<void> {
    if (this.#addresses !== null) {
      await removePodNetwork(this.#namespace, this.#link)
      this.#pool.release(this.#addresses.host)
    }
    const { directory } = this.#config
    removePodRecord(directory, this.#uid)
    rmSync(notReadyFile(directory, this.#uid), { force: true })
    rmSync(this.#volumesDirectory, { recursive: true, force: true })
  }

  get #state(): PodState {
    return {
      startedAt: this.#startedAt,
      ips: this.#ips,
      hostIps: this.#config.addresses,
      problem: this.#problem,
      over: this.#isOver || (this.#leaving && this.#isStopped),
      containers: this.#runs.map((run) => run.state()),
    }
  }

  #publish(): void {
    this.#object.publish(this.#pod, () => this.#state)
  }
}
