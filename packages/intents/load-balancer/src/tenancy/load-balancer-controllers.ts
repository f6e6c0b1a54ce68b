import {
  type DocumentService,
  type LoadBalancerService,
  type NamespaceLabels,
  type ProjectRule,
  Tenancy,
  type TlsCertificates,
} from '@spout/connector'
import type { Clock, Logger } from '@spout/runtime'
import type { Cluster } from '../controller/cluster.ts'
import {
  LoadBalancerController,
  type LoadBalancerControllerCounters,
  type LoadBalancerControllerOptions,
} from '../controller/load-balancer-controller.ts'
import { ProjectCluster } from './project-cluster.ts'
import { TenantLoadBalancers } from './tenant-objects.ts'

/** A project with a working credential. */
export interface LoadBalancerTenant {
  /** Its name in the rules; empty for the one project that all namespaces are of. */
  readonly project: string
  readonly projectId: string
  /** All with a credential for that project alone. */
  readonly service: LoadBalancerService
  readonly documents: DocumentService
  readonly certificates: TlsCertificates
  readonly defaultPools: readonly string[]
}

export interface LoadBalancerControllersOptions {
  readonly cluster: Cluster
  readonly namespaces: NamespaceLabels
  /** None: all namespaces are of the one tenant. */
  readonly rules: readonly ProjectRule[]
  readonly tenants: readonly LoadBalancerTenant[]
  readonly settings: Omit<LoadBalancerControllerOptions['settings'], 'defaultPools'>
  readonly clock: Clock
  readonly log: Logger
}

/** A controller for each project, over one cluster. They share no object. */
export class LoadBalancerControllers {
  readonly #tenancy: Tenancy | null
  readonly #tenants: readonly LoadBalancerTenant[]
  readonly #controllers: readonly LoadBalancerController[]

  constructor({ cluster, namespaces, rules, tenants, settings, clock, log }: LoadBalancerControllersOptions) {
    const tenancy =
      rules.length === 0 ? null : new Tenancy({ objects: new TenantLoadBalancers(cluster), namespaces, rules })
    this.#tenancy = tenancy
    this.#tenants = tenants
    this.#controllers = tenants.map(({ project, projectId, defaultPools, ...own }) => {
      const controller = new LoadBalancerController({
        cluster: tenancy === null ? cluster : new ProjectCluster(tenancy, cluster, project),
        ...{ ...own, clock, settings: { ...settings, defaultPools } },
        log: tenancy === null ? log : log.child({ project }),
      })
      tenancy?.join(project, projectId, controller.known)
      return controller
    })
  }

  /** Sums over all projects. */
  get counters(): LoadBalancerControllerCounters {
    const all = this.#controllers.map(({ counters }) => counters)
    const sum = (of: (counters: LoadBalancerControllerCounters) => number): number =>
      all.reduce((total, counters) => total + of(counters), 0)
    return {
      loadBalancers: sum(({ loadBalancers }) => loadBalancers),
      refused: sum(({ refused }) => refused),
      queued: sum(({ queued }) => queued),
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
