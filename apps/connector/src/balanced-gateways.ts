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
import { GatewayCluster, GatewayControllers, gatewaysOfCluster, NEEDED_KINDS } from '@spout/intent-gateway'
import type { Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { OpenedProject } from './opened-project.ts'

export interface BalancedGatewaysOptions {
  readonly transport: Transport
  /** Id of this cluster. */
  readonly cluster: string
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

/**
 * The Gateways of a cluster, once it has the kinds of Gateway API. Until then nothing is read, and nothing else waits for
 * it.
 */
export class BalancedGateways {
  readonly #cluster: GatewayCluster
  readonly #controllers: GatewayControllers
  readonly #whenReadable: WhenReadable

  constructor(options: BalancedGatewaysOptions) {
    const { transport, clock, log, slices, backends, cluster, projects, rules, labels } = options
    this.#cluster = new GatewayCluster({
      ...{ transport, clock, log },
      knownGateways: projects.flatMap(({ loadBalancers }) => gatewaysOfCluster(loadBalancers, cluster)),
      backends,
    })
    this.#controllers = new GatewayControllers({
      ...{ cluster: this.#cluster, namespaces: labels, rules, clock, log },
      tenants: projects.map(({ project, projectId, service }) => ({
        ...{ project: project.rule?.project ?? '', projectId, service, defaultPools: project.addressPools },
        certificates: new TlsCertificates({
          ...{ transport, cluster, namers: ['gateway'], clock, log },
          service: new NativeCertificates(project.sessions),
        }),
      })),
      settings: { cluster },
    })
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: 'Gateway API', resources: NEEDED_KINDS },
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

  get counters() {
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
