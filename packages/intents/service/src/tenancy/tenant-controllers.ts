import {
  type LoadBalancerService,
  type NamespaceLabels,
  NO_LOAD_BALANCERS,
  type ProjectRule,
  Tenancy,
} from '@spout/connector'
import type { Clock, Logger } from '@spout/runtime'
import type { ServiceControllerOptions, ServiceControllerSettings } from '../controller/context.ts'
import { ServiceController, type ServiceControllerCounters } from '../controller/service-controller.ts'
import { type ClaimingCluster, ProjectCluster } from './project-cluster.ts'
import { TenantServices } from './tenant-services.ts'

/** Settings of a controller that differ between projects. */
export type OwnSettings = Pick<ServiceControllerSettings, 'defaultPools' | 'routesOfNetwork' | 'podWay'>

/** A project of the rules that has a working credential. */
export interface Tenant extends OwnSettings {
  /** Its name in the rules. */
  readonly project: string
  /** With a credential for that project alone. */
  readonly service: LoadBalancerService
  /** Of that project. */
  readonly certificates?: NonNullable<ServiceControllerOptions['certificates']>
}

export interface TenantControllersOptions {
  readonly cluster: ClaimingCluster
  readonly namespaces: NamespaceLabels
  readonly rules: readonly ProjectRule[]
  /** Projects of the rules that are missing here are not ready: their Services stay as they are. */
  readonly tenants: readonly (Tenant & { readonly projectId: string })[]
  readonly settings: Omit<ServiceControllerSettings, keyof OwnSettings>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * A controller for each project, and one that refuses Services without a project. They share the cluster, and no
 * Service.
 */
export class TenantControllers {
  readonly #tenancy: Tenancy
  readonly #controllers: readonly ServiceController[]
  readonly #isComplete: boolean

  constructor({ cluster, namespaces, rules, tenants, settings, clock, log }: TenantControllersOptions) {
    const tenancy = new Tenancy({ objects: new TenantServices(cluster, settings), namespaces, rules })
    const made = (project: string | null, tenant: Omit<Tenant, 'project'>): ServiceController => {
      const { service, certificates, defaultPools, routesOfNetwork, podWay } = tenant
      return new ServiceController({
        cluster: new ProjectCluster(tenancy, cluster, project),
        service,
        ...(certificates === undefined ? {} : { certificates }),
        settings: { ...settings, defaultPools, routesOfNetwork, ...(podWay === undefined ? {} : { podWay }) },
        clock,
        log: project === null ? log : log.child({ project }),
      })
    }
    this.#controllers = [
      made(null, { service: NO_LOAD_BALANCERS, defaultPools: [], routesOfNetwork: null }),
      ...tenants.map((tenant) => {
        const controller = made(tenant.project, tenant)
        tenancy.join(tenant.project, tenant.projectId, controller.known)
        return controller
      }),
    ]
    this.#tenancy = tenancy
    this.#isComplete = rules.every(({ project }) => tenants.some((tenant) => tenant.project === project))
  }

  /** Whether both sides of every project were read. */
  get ready(): boolean {
    return this.#isComplete && this.#controllers.every(({ ready }) => ready)
  }

  /** Sums over all projects, and over Services without a project, which are refused. */
  get counters(): ServiceControllerCounters {
    const all = this.#controllers.map(({ counters }) => counters)
    const sum = (of: (counters: ServiceControllerCounters) => number): number =>
      all.reduce((total, counters) => total + of(counters), 0)
    return {
      services: sum(({ services }) => services),
      loadBalancers: sum(({ loadBalancers }) => loadBalancers),
      refused: sum(({ refused }) => refused),
      queued: sum(({ queued }) => queued),
      statusWrites: sum(({ statusWrites }) => statusWrites),
    }
  }

  start(): void {
    for (const controller of this.#controllers) controller.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()))
    this.#tenancy.close()
  }
}
