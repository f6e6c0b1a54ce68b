import { ProjectObjects, type Tenancy } from '@spout/connector'
import type { CustomStatus, EndpointSlice, ObjectEvent, Service } from '@spout/kube'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import type { LoadBalancerObject } from '../load-balancer-object.ts'

/** A view of the cluster with the LoadBalancer objects of one project. Those of others are absent. */
export class ProjectCluster implements Cluster {
  readonly #cluster: Cluster
  readonly #objects: ProjectObjects<LoadBalancerObject>

  constructor(tenancy: Tenancy, cluster: Cluster, project: string) {
    this.#cluster = cluster
    this.#objects = new ProjectObjects(tenancy, project, (key) => cluster.object(key))
  }

  get ready(): boolean {
    return this.#objects.ready && this.#cluster.ready
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    return this.#objects.follow(this.#cluster, (key): ClusterChange => ({ type: 'object', key }), listener)
  }

  object(key: string): LoadBalancerObject | undefined {
    return this.#objects.get(key)
  }

  objects(): Iterable<LoadBalancerObject> {
    return this.#objects.all()
  }

  isElsewhere(key: string): boolean {
    return this.#objects.isOfAnother(key)
  }

  service(key: string): Service | undefined {
    return this.#cluster.service(key)
  }

  services(namespace: string): Iterable<Service> {
    return this.#cluster.services(namespace)
  }

  slicesOf(serviceKey: string): readonly EndpointSlice[] {
    return this.#cluster.slicesOf(serviceKey)
  }

  slice(key: string): EndpointSlice | undefined {
    return this.#cluster.slice(key)
  }

  async claim(object: LoadBalancerObject): Promise<void> {
    this.#objects.mustBeOurs(object)
    await this.#cluster.claim(object)
  }

  async release(object: LoadBalancerObject): Promise<void> {
    this.#objects.mustBeOurs(object)
    await this.#cluster.release(object)
  }

  async writeStatus(object: LoadBalancerObject, status: CustomStatus): Promise<void> {
    this.#objects.mustBeOurs(object)
    await this.#cluster.writeStatus(object, status)
  }

  tell(object: LoadBalancerObject, event: ObjectEvent): void {
    this.#cluster.tell(object, event)
  }
}
