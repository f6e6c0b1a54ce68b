import type { Logger } from '@spout/runtime'
import type { TlsCertificates } from '../certificates/tls-certificates.ts'
import type { KnownLoadBalancers } from '../control-plane/known-load-balancers.ts'
import type { LoadBalancerService } from '../control-plane/load-balancer-service.ts'
import type { NamespaceLabels } from './namespace-labels.ts'
import type { ProjectRule } from './project-rules.ts'
import { Tenancy, type TenantObjects } from './tenancy.ts'
import { type TellUnowned, UnownedObjects } from './unowned-objects.ts'

/** A project with a working credential. */
export interface ProjectTenant {
  /** Its name in the rules; empty when there are no rules and all namespaces belong to this one project. */
  readonly project: string
  readonly projectId: string
  /** Client with a credential for that project alone. */
  readonly service: LoadBalancerService
  readonly certificates: TlsCertificates
  readonly defaultPools: readonly string[]
}

/** Reconciles the load balancers of one project with a cluster. */
export interface ProjectController<Counters> {
  /** Whether cluster and project have been read. */
  readonly ready: boolean
  /** The load balancers of the project. */
  readonly known: KnownLoadBalancers
  readonly counters: Counters
  start(): void
  stop(): Promise<void>
}

/** The projects, and the rules that assign objects to them. */
export interface ProjectsOptions<Tenant extends ProjectTenant = ProjectTenant> {
  readonly namespaces: NamespaceLabels
  /** Without rules all namespaces belong to the one tenant. */
  readonly rules: readonly ProjectRule[]
  /** The projects that are ready. Objects of projects that are in the rules but missing here stay as they are. */
  readonly tenants: readonly Tenant[]
  /** Called for objects of no project, to tell their users. Left out: they are not told. */
  readonly tellUnowned?: TellUnowned
  readonly log: Logger
}

export interface ProjectControllersOptions<Tenant extends ProjectTenant, Counters> extends ProjectsOptions<Tenant> {
  readonly objects: TenantObjects
  /** Makes the controller of a project. @param tenancy null when all namespaces belong to the tenant */
  readonly controllerOf: (tenant: Tenant, tenancy: Tenancy | null, log: Logger) => ProjectController<Counters>
  /** Makes a controller for objects of no project. Left out: these objects are left alone. */
  readonly controllerOfNobody?: (tenancy: Tenancy, log: Logger) => ProjectController<Counters>
  /** Counters that are all 0. */
  readonly zero: Counters
  /** Counters of objects that all projects share. They are not summed, because every controller counts the same. */
  readonly shared?: readonly (keyof Counters)[]
}

/** A controller for each project, over one cluster. Each balanced object belongs to one of them. */
export class ProjectControllers<
  Tenant extends ProjectTenant,
  Counters extends Readonly<Record<keyof Counters, number>>,
> {
  readonly #tenancy: Tenancy | null
  readonly #unowned: UnownedObjects | null
  readonly #tenants: readonly Tenant[]
  readonly #controllers: readonly ProjectController<Counters>[]
  /** Whether every project of the rules has a tenant. */
  readonly #isComplete: boolean
  readonly #zero: Counters
  readonly #shared: readonly (keyof Counters)[]

  constructor(options: ProjectControllersOptions<Tenant, Counters>) {
    const { objects, namespaces, rules, tenants, tellUnowned, log, controllerOf, zero, shared = [] } = options
    const tenancy = rules.length === 0 ? null : new Tenancy({ objects, namespaces, rules })
    this.#tenancy = tenancy
    this.#unowned =
      tenancy === null || tellUnowned === undefined ? null : new UnownedObjects(tenancy, objects, tellUnowned)
    this.#tenants = tenants
    this.#zero = zero
    this.#shared = shared
    this.#isComplete = rules.every(({ project }) => tenants.some((tenant) => tenant.project === project))
    const nobody = tenancy === null ? undefined : options.controllerOfNobody?.(tenancy, log)
    this.#controllers = [
      ...(nobody === undefined ? [] : [nobody]),
      ...tenants.map((tenant) => {
        const { project, projectId } = tenant
        const controller = controllerOf(tenant, tenancy, tenancy === null ? log : log.child({ project }))
        tenancy?.join(project, projectId, controller.known)
        return controller
      }),
    ]
  }

  /** Whether every project of the rules is there, and cluster and projects have been read. */
  get ready(): boolean {
    return this.#isComplete && this.#controllers.every(({ ready }) => ready)
  }

  /** Sums over all projects. */
  get counters(): Counters {
    const all = this.#controllers.map(({ counters }) => counters)
    const names = Object.keys(this.#zero) as (keyof Counters)[]
    const sums = names.map((name) => {
      const counted = all.map((one) => one[name])
      return [name, this.#shared.includes(name) ? Math.max(0, ...counted) : counted.reduce((a, b) => a + b, 0)]
    })
    return Object.fromEntries(sums) as Counters
  }

  start(): void {
    for (const { certificates } of this.#tenants) certificates.start()
    for (const controller of this.#controllers) controller.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()))
    await Promise.all(this.#tenants.map(({ certificates }) => certificates.stop()))
    this.#unowned?.close()
    this.#tenancy?.close()
  }
}
