import {
  type LoadBalancerService,
  type NamespaceLabels,
  type ProjectRule,
  Tenancy,
  type TlsCertificates,
} from '@spout/connector'
import type { Clock, Logger } from '@spout/runtime'
import type { Cluster } from '../controller/cluster.ts'
import type { IngressControllerSettings } from '../controller/context.ts'
import { IngressController, type IngressControllerCounters } from '../controller/ingress-controller.ts'
import { ProjectCluster } from './project-cluster.ts'
import { TenantIngresses } from './tenant-ingresses.ts'

/** A project with a working credential. */
export interface IngressTenant {
  /** Its name in the rules; empty for the one project that all namespaces are of. */
  readonly project: string
  readonly projectId: string
  /** With a credential for that project alone. */
  readonly service: LoadBalancerService
  readonly certificates: TlsCertificates
  readonly defaultPools: readonly string[]
}

export interface IngressControllersOptions {
  readonly cluster: Cluster
  readonly namespaces: NamespaceLabels
  /** None: all namespaces are of the one tenant. */
  readonly rules: readonly ProjectRule[]
  readonly tenants: readonly IngressTenant[]
  readonly settings: Omit<IngressControllerSettings, 'defaultPools'>
  readonly clock: Clock
  readonly log: Logger
}

/** A controller for each project, over one cluster. They share no Ingress. */
export class IngressControllers {
  readonly #tenancy: Tenancy | null
  readonly #tenants: readonly IngressTenant[]
  readonly #controllers: readonly IngressController[]

  constructor({ cluster, namespaces, rules, tenants, settings, clock, log }: IngressControllersOptions) {
    const tenancy =
      rules.length === 0 ? null : new Tenancy({ objects: new TenantIngresses(cluster), namespaces, rules })
    this.#tenancy = tenancy
    this.#tenants = tenants
    this.#controllers = tenants.map(({ project, projectId, service, certificates, defaultPools }) => {
      const controller = new IngressController({
        cluster: tenancy === null ? cluster : new ProjectCluster(tenancy, cluster, project),
        ...{ service, certificates, clock },
        settings: { ...settings, defaultPools },
        log: tenancy === null ? log : log.child({ project }),
      })
      tenancy?.join(project, projectId, controller.known)
      return controller
    })
  }

  /** Whether both sides of every project were read. */
  get ready(): boolean {
    return this.#controllers.every(({ ready }) => ready)
  }

  /** Sums over all projects. */
  get counters(): IngressControllerCounters {
    const all = this.#controllers.map(({ counters }) => counters)
    const sum = (of: (counters: IngressControllerCounters) => number): number =>
      all.reduce((total, counters) => total + of(counters), 0)
    return {
      ingresses: sum(({ ingresses }) => ingresses),
      loadBalancers: sum(({ loadBalancers }) => loadBalancers),
      refused: sum(({ refused }) => refused),
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
