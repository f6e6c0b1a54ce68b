import {
  type BackendServices,
  type KindReflector,
  NativeCertificates,
  NativeDocuments,
  type ServiceSlices,
  TlsCertificates,
  WhenReadable,
} from '@spout/connector'
import {
  KubeCluster,
  LOAD_BALANCERS,
  LoadBalancerController,
  type LoadBalancerControllerCounters,
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
  readonly project: OpenedProject
  readonly clock: Clock
  readonly log: Logger
}

/** The LoadBalancer objects of a cluster, once it has the kind and we may read it. Nothing else waits for that. */
export class BalancedLoadBalancers {
  readonly #certificates: TlsCertificates
  readonly #cluster: KubeCluster
  readonly #controller: LoadBalancerController
  readonly #whenReadable: WhenReadable

  constructor(options: BalancedLoadBalancersOptions) {
    const { transport, cluster, namespaces, slices, backends, clock, log } = options
    const { project, service } = options.project
    const namespace = namespaces?.length === 1 ? (namespaces[0] ?? null) : null
    this.#cluster = new KubeCluster({ transport, namespace, slices, backends, clock, log })
    this.#certificates = new TlsCertificates({
      ...{ transport, cluster, namers: ['load-balancer'], clock, log },
      service: new NativeCertificates(project.sessions),
    })
    this.#controller = new LoadBalancerController({
      ...{ cluster: this.#cluster, service, certificates: this.#certificates, clock, log },
      documents: new NativeDocuments(project.sessions),
      settings: { cluster, namespaces, defaultPools: project.addressPools },
    })
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: LOAD_BALANCERS.kind, resources: [LOAD_BALANCERS] },
      begin: () => {
        slices.reflector.start()
        backends.start()
        this.#certificates.start()
        this.#cluster.start()
        this.#controller.start()
      },
    })
  }

  /** Those that run. */
  get reflectors(): readonly KindReflector[] {
    return this.#whenReadable.begun ? this.#cluster.reflectors : []
  }

  get counters(): LoadBalancerControllerCounters {
    return this.#controller.counters
  }

  start(): void {
    this.#whenReadable.start()
  }

  async stop(): Promise<void> {
    await this.#whenReadable.stop()
    await this.#controller.stop()
    await this.#certificates.stop()
    await this.#cluster.stop()
  }
}
