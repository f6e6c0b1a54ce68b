import { clusterUid } from '@spout/kube'
import { type Component, retry } from '@spout/runtime'
import { NativeObjects } from '../spout/native-objects.ts'
import { ConfigController, type ConfigControllerOptions } from './config-controller.ts'
import { LoadBalancerObjects } from './load-balancer-objects.ts'

export interface KubernetesConfigurationOptions extends Omit<ConfigControllerOptions, 'cluster'> {
  /** Id of this cluster, which never changes; empty uses the UID of kube-system. */
  readonly cluster: string
  /** Name of the project whose load balancers are shown as objects; empty shows none. */
  readonly project: string
}

const RETRY_MS = 2000

/** Runs both loops. It retries until both sides have told who we are, then works until it is stopped. */
export class KubernetesConfiguration implements Component {
  readonly name = 'kubernetes-configuration'
  readonly #options: KubernetesConfigurationOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null
  #controller: ConfigController | null = null
  #loadBalancers: LoadBalancerObjects | null = null

  constructor(options: KubernetesConfigurationOptions) {
    this.#options = options
  }

  /** Whether both sides were read. */
  get ready(): boolean {
    return this.#controller?.ready === true && (this.#options.project === '' || this.#loadBalancers?.ready === true)
  }

  start(): void {
    this.#running ??= this.#begin()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await Promise.all([this.#controller?.stop(), this.#loadBalancers?.stop()])
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
    const { cluster: name, project, ...common } = this.#options
    const cluster = name || (await clusterUid(common.transport, signal))
    if (cluster === null) throw new Error('cluster is not set, and namespace kube-system may not be read for its UID')
    const projectId =
      project === '' ? null : await new NativeObjects(common.sessions).idOf('/projects', 'project', project, 'project')
    if (signal.aborted) return
    this.#controller = new ConfigController({ ...common, cluster })
    this.#controller.start()
    if (projectId === null) return
    this.#loadBalancers = new LoadBalancerObjects({ ...common, projectId })
    this.#loadBalancers.start()
  }
}
