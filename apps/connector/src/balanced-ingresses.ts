import {
  type BackendServices,
  type KindReflector,
  type NamespaceLabels,
  NativeCertificates,
  type ProjectRule,
  type ServiceSlices,
  TlsCertificates,
  WhenReadable,
} from '@spout/connector'
import {
  type IngressControllerCounters,
  IngressControllers,
  ingressesOfCluster,
  KubeCluster,
} from '@spout/intent-ingress'
import { type EventRecorder, INGRESS_CLASSES, INGRESSES, type Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { OpenedProject } from './opened-project.ts'

export interface BalancedIngressesOptions {
  readonly transport: Transport
  readonly events: EventRecorder
  /** Id of this cluster. */
  readonly cluster: string
  /** Only these namespaces; null for all. */
  readonly namespaces: readonly string[] | null
  /** Both are stopped by who made them. */
  readonly slices: ServiceSlices
  readonly backends: BackendServices
  /** Those that answered. */
  readonly projects: readonly OpenedProject[]
  /** None when all namespaces are of one project. */
  readonly rules: readonly ProjectRule[]
  readonly labels: NamespaceLabels
  readonly clock: Clock
  readonly log: Logger
}

/** The Ingresses of a cluster, once we may read them. Until then nothing is read, and nothing else waits for it. */
export class BalancedIngresses {
  readonly #cluster: KubeCluster
  readonly #controllers: IngressControllers
  readonly #whenReadable: WhenReadable

  constructor(options: BalancedIngressesOptions) {
    const { transport, events, cluster, namespaces, slices, backends, projects, rules, labels, clock, log } = options
    const namespace = namespaces?.length === 1 ? (namespaces[0] ?? null) : null
    this.#cluster = new KubeCluster({
      ...{ transport, clock, log, namespace, slices, backends },
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
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: INGRESSES.kind, resources: [INGRESS_CLASSES, INGRESSES] },
      begin: () => {
        slices.reflector.start()
        backends.start()
        this.#cluster.start()
        this.#controllers.start()
      },
    })
  }

  /** Those that run. */
  get reflectors(): readonly KindReflector[] {
    return this.#whenReadable.begun ? this.#cluster.reflectors : []
  }

  get counters(): IngressControllerCounters {
    return this.#controllers.counters
  }

  confirm(): void {
    this.#cluster.confirm()
  }

  start(): void {
    this.#whenReadable.start()
  }

  async stop(): Promise<void> {
    await this.#whenReadable.stop()
    await this.#controllers.stop()
    await this.#cluster.stop()
  }
}
