import {
  type KindReflector,
  type NamespaceLabels,
  NativeCertificates,
  type ProjectRule,
  ServiceSlices,
  TlsCertificates,
} from '@spout/connector'
import {
  type IngressControllerCounters,
  IngressControllers,
  ingressesOfCluster,
  KubeCluster,
} from '@spout/intent-ingress'
import { collectionPath, type EventRecorder, INGRESS_CLASSES, INGRESSES, KubeError, type Transport } from '@spout/kube'
import { type Clock, type Logger, retry } from '@spout/runtime'
import type { OpenedProject } from './opened-project.ts'

export interface BalancedIngressesOptions {
  readonly transport: Transport
  readonly events: EventRecorder
  /** Id of this cluster. */
  readonly cluster: string
  /** Only these namespaces; null for all. */
  readonly namespaces: readonly string[] | null
  /** Whose EndpointSlices count; empty takes all. */
  readonly slicesBy: readonly string[]
  /** Those that answered. */
  readonly projects: readonly OpenedProject[]
  /** None when all namespaces are of one project. */
  readonly rules: readonly ProjectRule[]
  readonly labels: NamespaceLabels
  readonly clock: Clock
  readonly log: Logger
}

/** How often it is looked whether Ingresses may be read. */
const LOOK_MS = 10_000

/** The Ingresses of a cluster, once we may read them. Until then nothing is read, and nothing else waits for it. */
export class BalancedIngresses {
  readonly #options: BalancedIngressesOptions
  readonly #slices: ServiceSlices
  readonly #cluster: KubeCluster
  readonly #controllers: IngressControllers
  readonly #stopping = new AbortController()
  #begun = false
  #beginning: Promise<unknown> | null = null

  constructor(options: BalancedIngressesOptions) {
    this.#options = options
    const { transport, events, cluster, namespaces, slicesBy, projects, rules, labels, clock, log } = options
    const namespace = namespaces?.length === 1 ? (namespaces[0] ?? null) : null
    this.#slices = new ServiceSlices({ ...{ transport, clock, log, namespace, slicesBy } })
    this.#cluster = new KubeCluster({
      ...{ transport, clock, log, namespace, slices: this.#slices },
      knownIngresses: projects.flatMap(({ loadBalancers }) => ingressesOfCluster(loadBalancers, cluster)),
      tell: ({ metadata: { namespace: of, name, uid } }, event) =>
        events.record({
          regarding: { apiVersion: INGRESSES.apiVersion, kind: INGRESSES.kind, namespace: of, name, uid },
          ...event,
        }),
    })
    this.#controllers = new IngressControllers({
      ...{ cluster: this.#cluster, namespaces: labels, rules, clock, log },
      tenants: projects.map(({ project, projectId, service }) => ({
        ...{ project: project.rule?.project ?? '', projectId, service, defaultPools: project.addressPools },
        certificates: new TlsCertificates({
          ...{ transport, cluster, namers: ['ingress'], clock, log },
          service: new NativeCertificates(project.sessions),
        }),
      })),
      settings: { cluster, namespaces },
    })
  }

  /** Those that run. */
  get reflectors(): readonly KindReflector[] {
    return this.#begun ? this.#cluster.reflectors : []
  }

  get counters(): IngressControllerCounters {
    return this.#controllers.counters
  }

  confirm(): void {
    this.#cluster.confirm()
  }

  start(): void {
    this.#beginning ??= this.#begin()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#beginning
    await this.#controllers.stop()
    await Promise.all([this.#cluster.stop(), this.#slices.reflector.close()])
  }

  async #begin(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    let told = false
    const look = async () => {
      if (await this.#mayRead()) return 'done' as const
      if (!told) log.info({ event: 'no-ingresses' }, 'RBAC does not let us read Ingresses: they are left alone')
      told = true
      return 'again' as const
    }
    const onFailure = ({ message }: Error) =>
      log.debug({ event: 'ingresses-unknown', reason: message }, 'will try again')
    await retry(look, { clock, signal, firstPauseMs: LOOK_MS, longestPauseMs: LOOK_MS, onFailure })
    if (signal.aborted) return
    this.#begun = true
    this.#slices.reflector.start()
    this.#cluster.start()
    this.#controllers.start()
    log.info({ event: 'balancing-ingresses' }, 'Ingresses can be read')
  }

  async #mayRead(): Promise<boolean> {
    const { transport } = this.#options
    try {
      for (const resource of [INGRESS_CLASSES, INGRESSES])
        await transport.request({
          ...{ method: 'GET', path: collectionPath(resource), query: { limit: 1 }, signal: this.#stopping.signal },
        })
      return true
    } catch (error) {
      if (error instanceof KubeError && (error.status === 403 || error.status === 404)) return false
      throw error
    }
  }
}
