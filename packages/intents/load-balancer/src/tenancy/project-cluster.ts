import { keyOf, Stale, type Tenancy } from '@spout/connector'
import type { CustomStatus, EndpointSlice, Service } from '@spout/kube'
import type { Cluster, ClusterChange } from '../controller/cluster.ts'
import type { LoadBalancerObject } from '../load-balancer-object.ts'

/** A view of the cluster with the LoadBalancer objects of one project. Those of others are absent. */
export class ProjectCluster implements Cluster {
  readonly #tenancy: Tenancy
  readonly #cluster: Cluster
  readonly #project: string

  constructor(tenancy: Tenancy, cluster: Cluster, project: string) {
    this.#tenancy = tenancy
    this.#cluster = cluster
    this.#project = project
  }

  get ready(): boolean {
    return this.#tenancy.ready && this.#cluster.ready
  }

  onChange(listener: (change: ClusterChange) => void): () => void {
    const unsubscribe = [
      this.#tenancy.onChange(this.#project, (key) => listener({ type: 'object', key })),
      this.#cluster.onChange((change) => {
        if (change.type !== 'object') listener(change)
      }),
    ]
    return () => {
      for (const one of unsubscribe) one()
    }
  }

  object(key: string): LoadBalancerObject | undefined {
    return this.#tenancy.isOf(key, this.#project) ? this.#cluster.object(key) : undefined
  }

  *objects(): Iterable<LoadBalancerObject> {
    for (const key of this.#tenancy.keysOf(this.#project)) {
      const object = this.#cluster.object(key)
      if (object !== undefined) yield object
    }
  }

  isElsewhere(key: string): boolean {
    return this.#tenancy.isOfAnother(key, this.#project)
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
    this.#mustBeOurs(object)
    await this.#cluster.claim(object)
  }

  async release(object: LoadBalancerObject): Promise<void> {
    this.#mustBeOurs(object)
    await this.#cluster.release(object)
  }

  async writeStatus(object: LoadBalancerObject, status: CustomStatus): Promise<void> {
    this.#mustBeOurs(object)
    await this.#cluster.writeStatus(object, status)
  }

  /** It may have moved to another project meanwhile. */
  #mustBeOurs(object: LoadBalancerObject): void {
    const key = keyOf(object)
    if (!this.#tenancy.isOf(key, this.#project)) throw new Stale(`${key} is of another project now`)
  }
}
