import { mkdirSync } from 'node:fs'
import { follow, KubernetesApi, KubernetesApiError } from '../api.ts'
import { conditionOf, type Node, type Pod } from '../objects.ts'
import type { KubeletConfig } from './config.ts'
import { startNodeServers } from './node-servers.ts'
import { PodAddressPool } from './pod-network.ts'
import { type PodRecord, readPodRecords } from './pod-record.ts'
import { PodWorker } from './pod-worker.ts'

/** More often than the real one, so that a test may set a short grace period of the node lifecycle controller. */
const HEARTBEAT_MS = 2000
const LEASE_SECONDS = 40

/**
 * The fake kubelet of one node: turns the pods bound to it into processes in namespaces, keeps their status and the
 * node's lease, and answers for its health, logs, commands and forwarded ports on the node's addresses.
 */
export class Kubelet {
  readonly #config: KubeletConfig
  readonly #api: KubernetesApi
  readonly #workers = new Map<string, PodWorker>()
  readonly #pool: PodAddressPool
  /** Pods that an earlier kubelet started and this one has not seen yet. */
  readonly #records: Map<string, PodRecord>

  constructor(config: KubeletConfig) {
    this.#config = config
    this.#api = new KubernetesApi(config.access)
    this.#pool = new PodAddressPool(config.podCidrs)
    mkdirSync(config.directory, { recursive: true })
    this.#records = new Map(readPodRecords(config.directory).map((record) => [record.uid, record]))
    // Addresses of running pods must not be given to a new one.
    for (const { host } of this.#records.values()) if (host !== null) this.#pool.keep(host)
  }

  /** Runs until `ended` is aborted; pods go on after that. */
  async run(ended: AbortSignal): Promise<void> {
    const workerOf = (namespace: string, pod: string): PodWorker | undefined =>
      [...this.#workers.values()].find((one) => one.isNamed(namespace, pod))
    const closeServers = await startNodeServers(this.#config, {
      log: ({ namespace, pod, container, sinceMs }) => workerOf(namespace, pod)?.log(container, sinceMs ?? 0) ?? null,
      command: ({ namespace, pod, container, command }) =>
        workerOf(namespace, pod)?.command(container, command) ?? null,
      namespaceOf: (namespace, pod) => workerOf(namespace, pod)?.namespace ?? null,
    })
    const beat = setInterval(() => void this.#beat(), HEARTBEAT_MS)
    void this.#beat()
    const path = `/api/v1/pods?fieldSelector=spec.nodeName%3D${this.#config.node}`
    const followed = {
      changed: (pod: Pod) => this.#changed(pod),
      gone: (pod: Pod) => this.#gone(pod),
      listed: () => this.#removeOrphans(),
    }
    await follow<Pod>(this.#api, path, followed, ended)
    clearInterval(beat)
    for (const worker of this.#workers.values()) worker.abandon()
    closeServers()
    this.#api.close()
  }

  #changed(pod: Pod): void {
    const uid = pod.metadata.uid ?? ''
    const known = this.#workers.get(uid)
    if (known) {
      known.update(pod)
      return
    }
    const { phase } = pod.status ?? {}
    const isOver = phase === 'Succeeded' || phase === 'Failed'
    if (isOver && pod.metadata.deletionTimestamp === undefined) return
    const worker = new PodWorker(this.#api, this.#config, this.#pool, pod)
    const record = this.#records.get(uid)
    this.#records.delete(uid)
    if (record) worker.adopt(record)
    this.#workers.set(uid, worker)
    void worker
      .run()
      .catch((error: unknown) => process.stderr.write(`pod ${pod.metadata.name}: ${(error as Error).stack}\n`))
      .finally(() => this.#workers.delete(uid))
  }

  #gone(pod: Pod): void {
    this.#workers.get(pod.metadata.uid ?? '')?.vanish()
  }

  /** Removes pods of an earlier kubelet that no longer have an object. */
  #removeOrphans(): void {
    for (const [uid, record] of this.#records) {
      this.#records.delete(uid)
      const containers = Object.keys(record.processes).map((name) => ({ name, image: '' }))
      const spec = { containers, hostNetwork: record.host === null }
      const orphan = new PodWorker(this.#api, this.#config, this.#pool, { metadata: { name: uid, uid }, spec })
      orphan.adopt(record)
      orphan.vanish()
      void orphan.run().catch(() => {})
    }
  }

  /**
   * Renews the lease that tells the node lifecycle controller that the node lives, and reports the node ready again.
   */
  async #beat(): Promise<void> {
    const { node } = this.#config
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases'
    const spec = {
      holderIdentity: node,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: new Date().toISOString().replace('Z', '000Z'),
    }
    try {
      await this.#api.patch(`${leases}/${node}`, { spec })
    } catch (error) {
      if (!(error instanceof KubernetesApiError && error.status === 404)) return
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: node }, spec }
      await this.#api.create(leases, lease).catch(() => {})
    }
    await this.#sayReady().catch(() => {})
  }

  async #sayReady(): Promise<void> {
    const { node } = this.#config
    const shown = await this.#api.get<Node>(`/api/v1/nodes/${node}`)
    if (conditionOf(shown, 'Ready')?.status === 'True') return
    const now = new Date().toISOString()
    const times = { lastHeartbeatTime: now, lastTransitionTime: now }
    const conditions = [
      { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'the test bed runs its pods', ...times },
    ]
    await this.#api.patchByKey(`/api/v1/nodes/${node}/status`, { status: { conditions } })
  }
}
