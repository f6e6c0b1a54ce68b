import {
  type BackendServices,
  type KindReflector,
  type NamespaceLabels,
  NativeCertificates,
  type OwnerKind,
  type PageLink,
  type ProjectRule,
  type ProjectTenant,
  type ServiceSlices,
  TlsCertificates,
  WhenReadable,
} from '@spout/connector'
import type { EventRecorder, Resource, Transport } from '@spout/kube'
import type { Clock, Logger } from '@spout/runtime'
import type { OpenedProject } from './opened-project.ts'

/** The dependencies of every balanced kind. */
export interface BalancedKindOptions {
  readonly transport: Transport
  readonly events: EventRecorder
  /** Id of this cluster. */
  readonly cluster: string
  /** Only these namespaces; null for all. */
  readonly namespaces: readonly string[] | null
  /** Leads to a load balancer on the web page; null: objects name no page. */
  readonly page: PageLink | null
  /** The caller stops both. */
  readonly slices: ServiceSlices
  readonly backends: BackendServices
  /** The projects whose control plane answered. */
  readonly projects: readonly OpenedProject[]
  /** Empty when all namespaces belong to one project. */
  readonly rules: readonly ProjectRule[]
  readonly labels: NamespaceLabels
  readonly clock: Clock
  readonly log: Logger
}

/** The objects of a kind in the cluster, in memory. */
interface KindCluster {
  readonly reflectors: readonly KindReflector[]
  /** An operator confirms that missing objects were deleted; left out when a missing object deletes nothing. */
  confirm?(): void
  start(): void
  stop(): Promise<void>
}

interface KindControllers<Counters> {
  readonly counters: Counters
  start(): void
  stop(): Promise<void>
}

export interface KindParts<Counters> {
  /** Name of the API, for the log. */
  readonly api: string
  /** The kinds that must be readable before this one starts. */
  readonly needs: readonly Resource[]
  readonly cluster: KindCluster
  readonly controllers: KindControllers<Counters>
}

/**
 * The objects and controllers of one kind. They start once the cluster has the kind and we may read it; nothing else
 * waits for that.
 */
export class BalancedKind<Counters> {
  readonly #parts: KindParts<Counters>
  readonly #whenReadable: WhenReadable

  constructor({ transport, clock, log, slices, backends }: BalancedKindOptions, parts: KindParts<Counters>) {
    this.#parts = parts
    this.#whenReadable = new WhenReadable({
      ...{ transport, clock, log, api: parts.api, resources: parts.needs },
      begin: () => {
        slices.reflector.start()
        backends.start()
        parts.cluster.start()
        parts.controllers.start()
      },
    })
  }

  /** The reflectors that run. */
  get reflectors(): readonly KindReflector[] {
    return this.#whenReadable.begun ? this.#parts.cluster.reflectors : []
  }

  get counters(): Counters {
    return this.#parts.controllers.counters
  }

  confirm(): void {
    this.#parts.cluster.confirm?.()
  }

  start(): void {
    this.#whenReadable.start()
  }

  async stop(): Promise<void> {
    await this.#whenReadable.stop()
    await this.#parts.controllers.stop()
    await this.#parts.cluster.stop()
  }
}

/** The one namespace that is watched; null for several. */
export const onlyNamespace = (namespaces: readonly string[] | null): string | null =>
  namespaces?.length === 1 ? (namespaces[0] ?? null) : null

/** The projects, each with the certificates that objects of this kind name. */
export function tenantsOf(kind: OwnerKind, options: TenantsOptions): readonly (ProjectTenant & Opened)[] {
  const { transport, cluster, clock, log, projects } = options
  return projects.map(({ project, projectId, service }) => ({
    ...{ project: project.rule?.project ?? '', projectId, service, defaultPools: project.addressPools },
    configured: project,
    certificates: new TlsCertificates({
      ...{ transport, cluster, namers: [kind], clock, log },
      service: new NativeCertificates(project.sessions),
    }),
  }))
}

type TenantsOptions = Pick<BalancedKindOptions, 'transport' | 'cluster' | 'clock' | 'log' | 'projects'>

interface Opened {
  readonly configured: OpenedProject['project']
}
