import {
  type BackendServices,
  type CertificateService,
  type KindReflector,
  type LoadBalancerService,
  type ServiceSlices,
  type ShownLoadBalancer,
  TlsCertificates,
  WhenReadable,
} from '@spout/connector'
import { GatewayCluster, GatewayController, gatewaysOfCluster, NEEDED_KINDS } from '@spout/intent-gateway'
import type { Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'

export interface BalancedGatewaysOptions {
  readonly transport: Transport
  /** Id of this cluster. */
  readonly cluster: string
  /** Both are stopped by who made them. */
  readonly slices: ServiceSlices
  readonly backends: BackendServices
  readonly service: LoadBalancerService
  readonly certificates: CertificateService
  /** Those of the project. */
  readonly loadBalancers: readonly ShownLoadBalancer[]
  /** Names of address pools, in order; empty allows any. */
  readonly defaultPools: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The Gateways of a cluster, once it has the kinds of Gateway API. Until then nothing is read, and nothing else waits for
 * it.
 */
export class BalancedGateways {
  readonly #certificates: TlsCertificates
  readonly #cluster: GatewayCluster
  readonly #controller: GatewayController
  readonly #whenReadable: WhenReadable

  constructor(options: BalancedGatewaysOptions) {
    const { transport, clock, log, slices, backends, cluster, service, loadBalancers, defaultPools } = options
    this.#cluster = new GatewayCluster({
      ...{ transport, clock, log },
      knownGateways: gatewaysOfCluster(loadBalancers, cluster),
      backends,
    })
    this.#certificates = new TlsCertificates({
      ...{ transport, cluster, clock, log },
      service: options.certificates,
      namers: ['gateway'],
    })
    this.#controller = new GatewayController({
      ...{ clock, log },
      cluster: this.#cluster,
      service,
      certificates: this.#certificates,
      settings: { cluster, defaultPools },
    })
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: 'Gateway API', resources: NEEDED_KINDS },
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

  get counters() {
    return this.#controller.counters
  }

  confirm(): void {
    this.#cluster.confirm()
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
