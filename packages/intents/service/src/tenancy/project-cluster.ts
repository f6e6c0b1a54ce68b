import { keyOf, NAMESPACE_MOVED, ProjectObjects, type Refusal, refuse, type Tenancy } from '@spout/connector'
import type { EndpointSlice, Node, ObjectEvent, Service } from '@spout/kube'
import type { Barred, Cluster, ClusterChange } from '../controller/cluster.ts'
import { fieldOf } from '../to-model/annotations.ts'
import { namespacesSharedWith } from '../to-model/sharing.ts'
import type { WrittenStatus } from '../write-back/status.ts'

/** A cluster that can note on a claimed Service to which project it belongs. */
export interface ClaimingCluster extends Cluster {
  claim(service: Service, projectId?: string): Promise<void>
}

/**
 * A view of the cluster with the Services of one project, or with those of none. Services of other projects are absent.
 */
export class ProjectCluster implements Cluster {
  readonly #tenancy: Tenancy
  readonly #cluster: ClaimingCluster
  readonly #objects: ProjectObjects<Service>

  constructor(tenancy: Tenancy, cluster: ClaimingCluster, project: string | null) {
    this.#tenancy = tenancy
    this.#cluster = cluster
    this.#objects = new ProjectObjects(tenancy, project, (key) => cluster.service(key))
  }

  get ready(): boolean {
    return this.#tenancy.ready
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    return this.#objects.follow(
      this.#cluster,
      (key): ClusterChange => ({ type: 'service', key }),
      listener,
      (change) => change.type === 'nodes' || this.#objects.has(change.key),
    )
  }

  service(key: string): Service | undefined {
    return this.#objects.get(key)
  }

  services(): Iterable<Service> {
    return this.#objects.all()
  }

  isHeld(key: string): boolean {
    return this.#cluster.isHeld(key) || this.#tenancy.isWithheld(key)
  }

  isGone(key: string, uid: string): Promise<boolean> {
    return this.#objects.isGone(key, uid, () => this.#cluster.isGone(key, uid))
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
    return this.#cluster.isClaimed(service) && this.#objects.isMarked(service)
  }

  async claim(service: Service): Promise<void> {
    this.#objects.mustBeOurs(service)
    await this.#cluster.claim(service, this.#objects.projectId)
  }

  async release(service: Service): Promise<void> {
    await this.#cluster.release(service)
  }

  async writeStatus(service: Service, status: WrittenStatus): Promise<string | null> {
    this.#objects.mustBeOurs(service)
    return this.#cluster.writeStatus(service, status)
  }

  tell(service: Service, event: ObjectEvent): void {
    this.#cluster.tell(service, event)
  }
}
