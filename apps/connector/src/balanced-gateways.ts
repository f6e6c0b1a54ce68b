import {
  BackendServices,
  type CertificateService,
  type KindReflector,
  type LoadBalancerService,
  ServiceSlices,
  type ShownLoadBalancer,
  TlsCertificates,
} from '@spout/connector'
import { GatewayCluster, GatewayController, gatewaysOfCluster, whyUnreadable } from '@spout/intent-gateway'
import type { Transport } from '@spout/kube'
import { type Clock, type Logger, retry } from '@spout/runtime'

export interface BalancedGatewaysOptions {
  readonly transport: Transport
  /** Id of this cluster. */
  readonly cluster: string
  /** Whose EndpointSlices count; empty takes all. */
  readonly slicesBy: readonly string[]
  readonly service: LoadBalancerService
  readonly certificates: CertificateService
  /** Those of the project. */
  readonly loadBalancers: readonly ShownLoadBalancer[]
  /** Names of address pools, in order; empty allows any. */
  readonly defaultPools: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}

/** How often it is looked whether Gateway API has been installed, and may be read. */
const LOOK_MS = 10_000

/**
 * The Gateways of a cluster, once it has the kinds of Gateway API. Until then nothing is read, and nothing else waits for
 * it.
 */
export class BalancedGateways {
  readonly #options: BalancedGatewaysOptions
  readonly #slices: ServiceSlices
  readonly #backends: BackendServices
  readonly #certificates: TlsCertificates
  readonly #cluster: GatewayCluster
  readonly #controller: GatewayController
  readonly #stopping = new AbortController()
  #begun = false
  #beginning: Promise<unknown> | null = null

  constructor(options: BalancedGatewaysOptions) {
    this.#options = options
    const { transport, clock, log, slicesBy, cluster, service, loadBalancers, defaultPools } = options
    const common = { transport, clock, log, namespace: null }
    this.#slices = new ServiceSlices({ ...common, slicesBy })
    this.#backends = new BackendServices({ ...common, slices: this.#slices })
    this.#cluster = new GatewayCluster({
      ...{ transport, clock, log },
      knownGateways: gatewaysOfCluster(loadBalancers, cluster),
      backends: this.#backends,
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
  }

  /** Those that run. */
  get reflectors(): readonly KindReflector[] {
    return this.#begun ? [...this.#cluster.reflectors, ...this.#backends.reflectors] : []
  }

  get counters() {
    return this.#controller.counters
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
    await this.#controller.stop()
    await this.#certificates.stop()
    await Promise.all([this.#cluster.stop(), this.#backends.stop(), this.#slices.reflector.close()])
  }

  async #begin(): Promise<void> {
    const { transport, clock, log } = this.#options
    const { signal } = this.#stopping
    let told: string | null = null
    const look = async () => {
      const reason = await whyUnreadable(transport, signal)
      if (reason !== null && reason !== told) log.info({ event: 'no-gateway-api', reason }, 'Gateways are left alone')
      told = reason
      return reason === null ? ('done' as const) : ('again' as const)
    }
    const onFailure = ({ message }: Error) =>
      log.debug({ event: 'gateway-api-unknown', reason: message }, 'will try again')
    await retry(look, { clock, signal, firstPauseMs: LOOK_MS, longestPauseMs: LOOK_MS, onFailure })
    if (signal.aborted) return
    this.#begun = true
    this.#slices.reflector.start()
    this.#backends.start()
    this.#certificates.start()
    this.#cluster.start()
    this.#controller.start()
    log.info({ event: 'balancing-gateways' }, 'Gateway API can be read')
  }
}
