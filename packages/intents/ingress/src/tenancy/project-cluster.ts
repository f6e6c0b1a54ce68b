import { keyOf, ProjectObjects, type Tenancy } from '@spout/connector'
import type { Ingress, ObjectEvent } from '@spout/kube'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'

/** A view of the cluster with the Ingresses of one project; those of other projects are absent. */
export class ProjectCluster implements Cluster {
  readonly #cluster: Cluster
  readonly #objects: ProjectObjects<Ingress>
  readonly #project: string

  constructor(tenancy: Tenancy, cluster: Cluster, project: string) {
    this.#cluster = cluster
    this.#project = project
    this.#objects = new ProjectObjects(tenancy, project, (key) => cluster.ingress(key))
  }

  get ready(): boolean {
    return this.#objects.ready && this.#cluster.ready
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    return this.#objects.follow(this.#cluster, (key): ClusterChange => ({ type: 'ingress', key }), listener)
  }

  ingress(key: string): Ingress | undefined {
    return this.#objects.get(key)
  }

  ingresses(): Iterable<Ingress> {
    return this.#objects.all()
  }

  classes() {
    return this.#cluster.classes()
  }

  service(key: string) {
    return this.#cluster.service(key)
  }

  slicesOf(serviceKey: string) {
    return this.#cluster.slicesOf(serviceKey)
  }

  /** The name includes the project: while an Ingress moves to another project, both name its ConfigMaps. */
  nameConfigMaps(unit: string, keys: ReadonlySet<string>): void {
    this.#cluster.nameConfigMaps(`${this.#project} ${unit}`, keys)
  }

  configMap(key: string) {
    return this.#cluster.configMap(key)
  }

  isHeld(key: string): boolean {
    return this.#cluster.isHeld(key) || this.#objects.isWithheld(key)
  }

  isGone(key: string, uid: string): Promise<boolean> {
    return this.#objects.isGone(key, uid, () => this.#cluster.isGone(key, uid))
  }

  /** Does not write an Ingress that has moved to another project. */
  async writeAddresses(ingress: Ingress, addresses: readonly string[]): Promise<string | null> {
    return this.#objects.has(keyOf(ingress)) ? this.#cluster.writeAddresses(ingress, addresses) : null
  }

  tell(ingress: Ingress, event: ObjectEvent): void {
    this.#cluster.tell(ingress, event)
  }
}
