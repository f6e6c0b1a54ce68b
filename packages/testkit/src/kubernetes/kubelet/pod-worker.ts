import type { ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { isAlive, type ProcessId } from '../../lab/record.ts'
import type { KubernetesApi } from '../api.ts'
import type { Container, Pod } from '../objects.ts'
import { type KubeletConfig, notReadyFile, podLogFile, podPlaceName, shortId } from './config.ts'
import { ContainerLog } from './container-log.ts'
import { executeIn, hostNameOf, isReal, signal, startContainer } from './container-process.ts'
import { Pause } from './pause.ts'
import { addPodNetwork, type PodAddresses, type PodAddressPool, removePodNetwork } from './pod-network.ts'
import { PodObject } from './pod-object.ts'
import { type PodRecord, removePodRecord, writePodRecord } from './pod-record.ts'
import type { PodState } from './pod-status.ts'
import { keepAsking, Readiness } from './readiness.ts'
import { writeServiceNames } from './service-names.ts'
import { killGroup } from './streaming/upgrades.ts'
import { type Mount, makeVolumes } from './volumes.ts'

const LOOK_EVERY_MS = 100
const DEFAULT_GRACE_S = 30
const LONGEST_RESTART_DELAY_MS = 10_000

interface Run {
  readonly container: Container
  readonly readiness: Readiness | null
  readonly log: ContainerLog
  process: ProcessId | null
  restarts: number
  /** Earliest next start, by `performance.now()`. */
  notBefore: number
}

/**
 * Runs one pod on a node, from its binding to its end. A single loop does everything, so nothing runs twice at a time.
 */
export class PodWorker {
  readonly #api: KubernetesApi
  readonly #config: KubeletConfig
  readonly #pool: PodAddressPool
  readonly #runs: readonly Run[]
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
    this.#runs = pod.spec.containers.map((container) => ({
      container,
      readiness: container.readinessProbe ? new Readiness(container.readinessProbe) : null,
      log: new ContainerLog(podLogFile(config.directory, pod.metadata, container.name)),
      process: null,
      restarts: 0,
      notBefore: 0,
    }))
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

  /** The log of a container since a time in Unix milliseconds; null when it has no such container. */
  log(container: string, sinceMs: number): Buffer | null {
    return this.#runs.find((run) => run.container.name === container)?.log.since(sinceMs) ?? null
  }

  /** The network namespace in which its containers run; null while none does. */
  get namespace(): string | null {
    return this.#isStopped ? null : this.#namespace
  }

  /** What starts a command in a container; null when that does not run. The command ends with the pod at the latest. */
  command(name: string, command: readonly string[]): (() => ChildProcess) | null {
    const { container, process } = this.#runs.find((run) => run.container.name === name) ?? {}
    if (container === undefined || !process || !isAlive(process)) return null
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

  /** The object is gone: end at once. */
  vanish(): void {
    this.#object.vanish()
    this.#pause.wake()
  }

  /** The kubelet stops; its processes go on. */
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
      if (run.process !== null && isAlive(run.process)) continue
      if (run.process !== null) this.#ended(run)
      if (this.#isOver || performance.now() < run.notBefore || this.#leaving) continue
      try {
        await this.#start(run)
        this.#problem = null
      } catch (error) {
        this.#problem = (error as Error).message
        run.notBefore = performance.now() + 1000
      }
    }
  }

  #ended(run: Run): void {
    run.process = null
    run.readiness?.reset()
    // At once the first time, then a second more each time.
    run.notBefore = performance.now() + Math.min(run.restarts * 1000, LONGEST_RESTART_DELAY_MS)
    run.restarts++
  }

  /** Whether the pod has no process and is not to be restarted. */
  get #isOver(): boolean {
    return (
      (this.#pod.spec.restartPolicy ?? 'Always') !== 'Always' &&
      this.#runs.every(({ process, restarts }) => process === null && restarts > 0)
    )
  }

  async #start(run: Run): Promise<void> {
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

  /** Recorded before it is created: whoever removes the node finds the pod's namespace in the record. */
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

  /** Its volumes, and a file with the names of Services. */
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

  async #probe(run: Run): Promise<void> {
    if (run.readiness === null) return
    await keepAsking(run.readiness, {
      container: run.container,
      ip: () => (run.process !== null && isAlive(run.process) ? (this.#ips[0] ?? null) : null),
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
    for (const { process } of this.#runs) if (process) signal(process, 'SIGTERM')
    await until(() => this.#isStopped)
    for (const { process } of this.#runs) if (process) signal(process, 'SIGKILL')
    while (!this.#isStopped) await this.#pause.wait(5)
    for (const child of this.#commands) killGroup(child)
    await this.#object.idle()
    this.#publish()
    await this.#object.idle()
    await this.#takeDown()
  }

  get #isStopped(): boolean {
    return this.#runs.every(({ process }) => process === null || !isAlive(process))
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
      containers: this.#runs.map(({ container, process, readiness, restarts }) => {
        const running = process !== null && isAlive(process)
        return {
          name: container.name,
          image: container.image,
          running,
          ready: running && (readiness?.ready ?? true),
          restarts,
        }
      }),
    }
  }

  #publish(): void {
    this.#object.publish(this.#pod, () => this.#state)
  }
}
