import { clusterUid, type EventRecorder } from '@spout/kube'
import { type Component, retry } from '@spout/runtime'
import { NodeSelections } from '../nodes/node-selections.ts'
import type { NodePolicy } from '../nodes/node-wish.ts'
import { NativeObjects } from '../spout/native-objects.ts'
import { ConfigController, type ConfigControllerOptions } from './config-controller.ts'
import { LoadBalancerObjects } from './load-balancer-objects.ts'
import { NodeScheduling } from './node-scheduling.ts'

export interface KubernetesConfigurationOptions extends Omit<ConfigControllerOptions, 'cluster' | 'selections'> {
  /** Id of this cluster, which must never change. Empty: the UID of namespace kube-system. */
  readonly cluster: string
  /** Name of the project whose load balancers are shown as objects. Empty: none are shown. */
  readonly project: string
  /** For load-balancer nodes that are nodes of this cluster; null: they are not. */
  readonly nodes: NodePolicy | null
  /** Says on Nodes what became of their groups. */
  readonly events: EventRecorder
}

const RETRY_MS = 2000

/**
 * Runs the loops. First it asks both sides for the ids of the cluster and the project, and retries until it has them.
 */
export class KubernetesConfiguration implements Component {
  readonly name = 'kubernetes-configuration'
  readonly #options: KubernetesConfigurationOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null
  #controller: ConfigController | null = null
  #loadBalancers: LoadBalancerObjects | null = null
  #nodes: NodeScheduling | null = null

  constructor(options: KubernetesConfigurationOptions) {
    this.#options = options
  }

  /** Whether all loops have read both sides. */
  get ready(): boolean {
    const { project, nodes } = this.#options
    return (
      this.#controller?.ready === true &&
      (project === '' || this.#loadBalancers?.ready === true) &&
      (nodes === null || this.#nodes?.ready === true)
    )
  }

  start(): void {
    this.#running ??= this.#begin()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await Promise.all([this.#controller?.stop(), this.#loadBalancers?.stop(), this.#nodes?.stop()])
  }

  async #begin(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    const onFailure = ({ message }: Error) =>
      log.warn({ event: 'cannot-begin', reason: message }, 'the configuration cannot be read yet; will try again')
    const options = { clock, signal, firstPauseMs: RETRY_MS, longestPauseMs: RETRY_MS, onFailure }
    await retry(async () => {
      await this.#open(signal)
      return 'done'
    }, options)
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { cluster: name, project, nodes, events, ...common } = this.#options
    const cluster = name || (await clusterUid(common.transport, signal))
    if (cluster === null) throw new Error('cluster is not set, and we may not read namespace kube-system for its UID')
    const projectId =
      project === '' ? null : await new NativeObjects(common.sessions).idOf('/projects', 'project', project, 'project')
    if (signal.aborted) return
    const selections = nodes === null ? null : new NodeSelections()
    this.#controller = new ConfigController({ ...common, cluster, selections })
    this.#controller.start()
    if (nodes !== null && selections !== null) {
      const { nodeGroups: groups } = this.#controller
      this.#nodes = new NodeScheduling({ ...common, policy: nodes, groups, selections, events })
      this.#nodes.start()
    }
    if (projectId === null) return
    this.#loadBalancers = new LoadBalancerObjects({ ...common, projectId })
    this.#loadBalancers.start()
  }
}
