import { keyOf, PROJECT, type Refusal, uidOf } from '@spout/connector'
import type { EndpointSlice, Node, Service } from '@spout/kube'
import { type Barred, type Cluster, type ClusterChange, Stale } from '../controller/cluster.ts'
import type { ServiceEvent } from '../write-back/events.ts'
import type { WrittenStatus } from '../write-back/status.ts'
import type { ClaimingCluster, Tenancy } from './tenancy.ts'

/** A cluster with the Services of one project alone, or of nobody. What others have is not there. */
export class ProjectCluster implements Cluster {
  readonly #tenancy: Tenancy
  readonly #cluster: ClaimingCluster
  readonly #project: string | null
  readonly #listeners = new Set<(change: ClusterChange) => void>()

  constructor(tenancy: Tenancy, cluster: ClaimingCluster, project: string | null) {
    this.#tenancy = tenancy
    this.#cluster = cluster
    this.#project = project
  }

  get ready(): boolean {
    return this.#tenancy.ready
  }

  changed(change: ClusterChange): void {
    for (const listener of this.#listeners) listener(change)
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
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

  /** One that is somebody else's is gone from here. */
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
    return this.#tenancy.barred(service)
  }

  notice(service: Service): Refusal | null {
    return this.#tenancy.notice(service)
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
    if (id === null) throw new Error('a Service of nobody is claimed by nobody')
    return id
  }

  /** It may have become another project's while it was looked at. */
  #mustBeOurs(service: Service): void {
    const key = keyOf(service)
    if (!this.#tenancy.isOf(key, this.#project)) throw new Stale(`${key} is of another project now`)
  }
}
