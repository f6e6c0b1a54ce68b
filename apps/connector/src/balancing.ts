import type { Sessions } from '@spout/client/native-api'
import {
  KubeCluster,
  NativeLoadBalancers,
  ServiceController,
  type ServiceControllerCounters,
  servicesOfCluster,
} from '@spout/intent-service'
import { clusterUid, type EventRecorder, type Transport } from '@spout/kube'
import { type Clock, type Logger, persist } from '@spout/runtime'
import type { ConnectorConfig } from './config.ts'

export interface BalancingOptions {
  readonly config: ConnectorConfig
  readonly transport: Transport
  readonly sessions: Sessions
  readonly events: EventRecorder
  readonly clock: Clock
  readonly log: Logger
}

const RETRY_MS = 2000

/** The work of the connector that leads: both sides are read, then brought together, until it is stopped. */
export class Balancing {
  readonly #options: BalancingOptions
  readonly #stopping = new AbortController()
  #running: Promise<void> | null = null
  #cluster: KubeCluster | null = null
  #controller: ServiceController | null = null

  constructor(options: BalancingOptions) {
    this.#options = options
  }

  get ready(): boolean {
    return this.#controller?.ready ?? false
  }

  get counters(): ServiceControllerCounters | null {
    return this.#controller?.counters ?? null
  }

  /** The reflectors' counters by kind; nothing before there are any. */
  get reflectors(): KubeCluster['reflectors'] {
    return this.#cluster?.reflectors ?? []
  }

  /** Somebody says that objects which are missing are deleted indeed: their load balancers go. */
  confirm(): void {
    this.#options.log.warn({ event: 'confirmed' }, 'absences are believed')
    this.#cluster?.confirm()
  }

  start(): void {
    this.#running ??= this.#begin()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await this.#controller?.stop()
    await this.#cluster?.stop()
  }

  /** Asks both sides who they are until they answer. */
  async #begin(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    const onFailure = ({ message }: Error) => log.warn({ event: 'cannot-begin', reason: message }, 'will try again')
    const options = { clock, signal, firstPauseMs: RETRY_MS, longestPauseMs: RETRY_MS, onFailure }
    await persist(async () => {
      await this.#open(signal)
      return 'done'
    }, options)
  }

  async #open(signal: AbortSignal): Promise<void> {
    const { config, transport, sessions, events, clock, log } = this.#options
    const service = new NativeLoadBalancers(sessions)
    const name = config.kubernetes.clusterName || (await clusterUid(transport, signal))
    if (name === null)
      throw new Error('kubernetes.clusterName is not set, and namespace kube-system may not be read for its UID')
    const knownServices = servicesOfCluster(await service.list(), name)
    if (signal.aborted) return
    const { className, isDefault, namespaces, mode, addressPools } = config.services
    const cluster = new KubeCluster({
      transport,
      clock,
      log,
      className,
      namespace: namespaces.length === 1 ? (namespaces[0] ?? null) : null,
      knownServices,
      tell: ({ metadata }, event) => {
        const regarding = { apiVersion: 'v1', kind: 'Service', ...pick(metadata) }
        events.record({ regarding, ...event })
      },
    })
    const controller = new ServiceController({
      cluster,
      service,
      settings: {
        cluster: name,
        className,
        isDefault,
        namespaces: namespaces.length === 0 ? null : namespaces,
        mode,
        defaultPools: addressPools,
        routesOfNetwork: mode === 'direct' && config.network.name !== '' ? config.network.name : null,
        podWay: config.network,
      },
      clock,
      log,
    })
    this.#cluster = cluster
    this.#controller = controller
    cluster.start()
    controller.start()
    log.info({ event: 'balancing', cluster: name, knownServices: knownServices.length }, 'reading both sides')
  }
}

const pick = ({
  namespace,
  name,
  uid,
}: {
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
}) => ({
  namespace,
  name,
  uid,
})
