import { keyOf, NAMESPACE_MOVED, PROJECT, type Refusal, refuse, Stale, type Tenancy, uidOf } from '@spout/connector'
import type { EndpointSlice, Node, Service } from '@spout/kube'
import type { Barred, Cluster, ClusterChange } from '../controller/cluster.ts'
import { fieldOf } from '../to-model/annotations.ts'
import { namespacesSharedWith } from '../to-model/sharing.ts'
import type { ServiceEvent } from '../write-back/events.ts'
import type { WrittenStatus } from '../write-back/status.ts'

/** A cluster whose claims name the project. */
export interface ClaimingCluster extends Cluster {
  claim(service: Service, projectId?: string): Promise<void>
}

/**
 * A view of the cluster with the Services of one project, or with those of none. Services of other projects are absent.
 */
export class ProjectCluster implements Cluster {
  readonly #tenancy: Tenancy
  readonly #cluster: ClaimingCluster
  readonly #project: string | null

  constructor(tenancy: Tenancy, cluster: ClaimingCluster, project: string | null) {
    this.#tenancy = tenancy
    this.#cluster = cluster
    this.#project = project
  }

  get ready(): boolean {
    return this.#tenancy.ready
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    const unsubscribe = [
      this.#tenancy.onChange(this.#project, (key) => listener({ type: 'service', key })),
      this.#cluster.onChange((change) => {
        if (change.type === 'service') return
        if (change.type === 'nodes' || this.#tenancy.isOf(change.key, this.#project)) listener(change)
      }),
    ]
    return () => {
      for (const one of unsubscribe) one()
    }
  }

  service(key: string): Service | undefined {
    return this.#tenancy.isOf(key, this.#project) ? this.#cluster.service(key) : undefined
  }

  *services(): Iterable<Service> {
    for (const key of this.#tenancy.keysOf(this.#project)) {
      const service = this.#cluster.service(key)
      if (service !== undefined) yield service
    }
  }

  isHeld(key: string): boolean {
    return this.#cluster.isHeld(key) || this.#tenancy.isWithheld(key)
  }

  /** A Service of another project counts as gone. */
  async isGone(key: string, uid: string): Promise<boolean> {
    const service = this.#cluster.service(key)
    if (service === undefined || uidOf(service) !== uid) return this.#cluster.isGone(key, uid)
    return !this.#tenancy.isWithheld(key) && !this.#tenancy.isOf(key, this.#project)
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    return this.#cluster.slicesOf(serviceKey)
  }

  nodes(): Iterable<Node> {
    return this.#cluster.nodes()
  }

  barred(service: Service): Barred | null {
    const assigned = this.#tenancy.assignmentOf(keyOf(service))
    if (assigned?.type === 'nobody') return { refusal: assigned.refusal, keepsAddresses: assigned.isElsewhere }
    if (assigned?.type !== 'project') return null
    const { project } = assigned
    const stranger = namespacesSharedWith(service).find((name) => !this.#tenancy.isNamespaceOf(name, project))
    if (stranger === undefined) return null
    const message = `Namespace "${stranger.slice(0, 63).replaceAll(/[^\x20-\x7e]/g, '?')}" is not of this Service's project.`
    return { ...refuse('SharingAcrossProjects', fieldOf('shareWith'), message), keepsAddresses: false }
  }

  notice(service: Service): Refusal | null {
    const assigned = this.#tenancy.assignmentOf(keyOf(service))
    if (assigned?.type !== 'project' || assigned.kept === null) return null
    const whose = assigned.kept === 'moved' ? 'of another project' : 'of no project'
    return {
      reason: NAMESPACE_MOVED,
      field: 'metadata.namespace',
      message: `Its namespace is ${whose} now. The Service stays in the project of its address until it is created again.`,
    }
  }

  isClaimed(service: Service): boolean {
    return this.#cluster.isClaimed(service) && service.metadata.annotations?.[PROJECT] === this.#projectId()
  }

  async claim(service: Service): Promise<void> {
    this.#mustBeOurs(service)
    await this.#cluster.claim(service, this.#projectId())
  }

  async release(service: Service): Promise<void> {
    await this.#cluster.release(service)
  }

  async writeStatus(service: Service, status: WrittenStatus): Promise<string | null> {
    this.#mustBeOurs(service)
    return this.#cluster.writeStatus(service, status)
  }

  tell(service: Service, event: ServiceEvent): void {
    this.#cluster.tell(service, event)
  }

  #projectId(): string {
    const id = this.#project === null ? null : this.#tenancy.projectId(this.#project)
    if (id === null) throw new Error('a Service without a project cannot be claimed')
    return id
  }

  /** It may have moved to another project meanwhile. */
  #mustBeOurs(service: Service): void {
    const key = keyOf(service)
    if (!this.#tenancy.isOf(key, this.#project)) throw new Stale(`${key} is of another project now`)
  }
}
