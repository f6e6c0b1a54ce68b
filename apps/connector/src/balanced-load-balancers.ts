import {
  type BackendServices,
  type KindReflector,
  type NamespaceLabels,
  NativeCertificates,
  NativeDocuments,
  type ProjectRule,
  type ServiceSlices,
  TlsCertificates,
  WhenReadable,
} from '@spout/connector'
import {
  KubeCluster,
  LOAD_BALANCERS,
  type LoadBalancerControllerCounters,
  LoadBalancerControllers,
} from '@spout/intent-load-balancer'
import type { Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { OpenedProject } from './opened-project.ts'

export interface BalancedLoadBalancersOptions {
  readonly transport: Transport
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

/** The LoadBalancer objects of a cluster, once it has the kind and we may read it. Nothing else waits for that. */
export class BalancedLoadBalancers {
  readonly #cluster: KubeCluster
  readonly #controllers: LoadBalancerControllers
  readonly #whenReadable: WhenReadable

  constructor(options: BalancedLoadBalancersOptions) {
    const { transport, cluster, namespaces, slices, backends, projects, rules, labels, clock, log } = options
    const namespace = namespaces?.length === 1 ? (namespaces[0] ?? null) : null
    this.#cluster = new KubeCluster({ transport, namespace, slices, backends, clock, log })
    this.#controllers = new LoadBalancerControllers({
      ...{ cluster: this.#cluster, namespaces: labels, rules, clock, log },
      tenants: projects.map(({ project, projectId, service }) => ({
        ...{ project: project.rule?.project ?? '', projectId, service, defaultPools: project.addressPools },
        documents: new NativeDocuments(project.sessions),
        certificates: new TlsCertificates({
          ...{ transport, cluster, namers: ['load-balancer'], clock, log },
          service: new NativeCertificates(project.sessions),
        }),
      })),
      settings: { cluster, namespaces },
    })
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: LOAD_BALANCERS.kind, resources: [LOAD_BALANCERS] },
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

  get counters(): LoadBalancerControllerCounters {
    return this.#controllers.counters
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
