import type { Clock, Logger } from '@spout/runtime'
import type { TlsCertificates } from '../certificates/tls-certificates.ts'
import type { LoadBalancerService } from '../control-plane/load-balancer-service.ts'
import type { PageLink } from '../status/page-link.ts'

/** Settings of every intent's controller. */
export interface IntentSettings {
  /**
   * Id of this cluster, which marks its load balancers among those of other clusters in the project. It must never
   * change.
   */
  readonly cluster: string
  /** Only these namespaces; null for all. */
  readonly namespaces: readonly string[] | null
  /** Names of address pools for objects that name none, in order; empty allows any. */
  readonly defaultPools: readonly string[]
  /** Leads to a load balancer on the web page; conditions and events end with it. Null or left out: they name no page. */
  readonly page?: PageLink | null
}

/** What the controller of every intent needs. */
export interface IntentOptions<Cluster, Settings = IntentSettings> {
  readonly cluster: Cluster
  /** Client with a credential for one project. */
  readonly service: LoadBalancerService
  /** Certificates of the project. The caller starts and stops them. */
  readonly certificates: Pick<TlsCertificates, 'ready' | 'of' | 'name' | 'complete' | 'onChange'>
  readonly settings: Settings
  readonly clock: Clock
  readonly log: Logger
}
