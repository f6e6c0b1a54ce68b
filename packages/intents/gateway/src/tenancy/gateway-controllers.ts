import {
  type LoadBalancerService,
  type NamespaceLabels,
  type ProjectRule,
  Tenancy,
  type TlsCertificates,
} from '@spout/connector'
import type { Clock, Logger } from '@spout/runtime'
import { GatewayController, type GatewayControllerCounters } from '../controller/gateway-controller.ts'
import type { GatewayControllerSettings } from '../controller/options.ts'
import { type ClaimingCluster, ProjectCluster } from './project-cluster.ts'
import { TenantGateways } from './tenant-gateways.ts'

/** A project with a working credential. */
export interface GatewayTenant {
  /** Its name in the rules; empty for the one project that all namespaces are of. */
  readonly project: string
  readonly projectId: string
  /** With a credential for that project alone. */
  readonly service: LoadBalancerService
  readonly certificates: TlsCertificates
  readonly defaultPools: readonly string[]
}

export interface GatewayControllersOptions {
  readonly cluster: ClaimingCluster
  readonly namespaces: NamespaceLabels
  /** None: all namespaces are of the one tenant. */
  readonly rules: readonly ProjectRule[]
  readonly tenants: readonly GatewayTenant[]
  readonly settings: Omit<GatewayControllerSettings, 'defaultPools'>
  readonly clock: Clock
  readonly log: Logger
}

/** A controller for each project, over one cluster. They share routes, and no Gateway. */
export class GatewayControllers {
  readonly #tenancy: Tenancy | null
  readonly #tenants: readonly GatewayTenant[]
  readonly #controllers: readonly GatewayController[]

  constructor({ cluster, namespaces, rules, tenants, settings, clock, log }: GatewayControllersOptions) {
    const tenancy = rules.length === 0 ? null : new Tenancy({ objects: new TenantGateways(cluster), namespaces, rules })
    this.#tenancy = tenancy
    this.#tenants = tenants
    this.#controllers = tenants.map(({ project, projectId, service, certificates, defaultPools }) => {
      const controller = new GatewayController({
        cluster: tenancy === null ? cluster : new ProjectCluster(tenancy, cluster, project),
        ...{ service, certificates, clock, settings: { ...settings, defaultPools } },
        log: tenancy === null ? log : log.child({ project }),
      })
      tenancy?.join(project, projectId, controller.known)
      return controller
    })
  }

  /** Sums over all projects; routes are shared. */
  get counters(): GatewayControllerCounters {
    const all = this.#controllers.map(({ counters }) => counters)
    const sum = (of: (counters: GatewayControllerCounters) => number): number =>
      all.reduce((total, counters) => total + of(counters), 0)
    return {
      gateways: sum(({ gateways }) => gateways),
      loadBalancers: sum(({ loadBalancers }) => loadBalancers),
      routes: Math.max(0, ...all.map(({ routes }) => routes)),
      queued: sum(({ queued }) => queued),
      statusWrites: sum(({ statusWrites }) => statusWrites),
    }
  }

  start(): void {
    for (const { certificates } of this.#tenants) certificates.start()
    for (const controller of this.#controllers) controller.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()))
    await Promise.all(this.#tenants.map(({ certificates }) => certificates.stop()))
    this.#tenancy?.close()
  }
}
