import { type Tenancy, uidOf } from '@spout/connector'
import type { Ingress } from '@spout/kube'
import type { Cluster, ClusterChange, IngressEvent } from '../controller/cluster.ts'

/** A view of the cluster with the Ingresses of one project. Those of others are absent. */
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
      this.#tenancy.onChange(this.#project, (key) => listener({ type: 'ingress', key })),
      this.#cluster.onChange((change) => {
        if (change.type !== 'ingress') listener(change)
      }),
    ]
    return () => {
      for (const one of unsubscribe) one()
    }
  }

  ingress(key: string): Ingress | undefined {
    return this.#tenancy.isOf(key, this.#project) ? this.#cluster.ingress(key) : undefined
  }

  *ingresses(): Iterable<Ingress> {
    for (const key of this.#tenancy.keysOf(this.#project)) {
      const ingress = this.#cluster.ingress(key)
      if (ingress !== undefined) yield ingress
    }
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

  isHeld(key: string): boolean {
    return this.#cluster.isHeld(key) || this.#tenancy.isWithheld(key)
  }

  /** An Ingress of another project counts as gone. */
  async isGone(key: string, uid: string): Promise<boolean> {
    const ingress = this.#cluster.ingress(key)
    if (ingress === undefined || uidOf(ingress) !== uid) return this.#cluster.isGone(key, uid)
    return !this.#tenancy.isWithheld(key) && !this.#tenancy.isOf(key, this.#project)
  }

  /** An Ingress that has moved to another project meanwhile is not written. */
  async writeAddresses(ingress: Ingress, addresses: readonly string[]): Promise<string | null> {
    const key = `${ingress.metadata.namespace ?? ''}/${ingress.metadata.name}`
    return this.#tenancy.isOf(key, this.#project) ? this.#cluster.writeAddresses(ingress, addresses) : null
  }

  tell(ingress: Ingress, event: IngressEvent): void {
    this.#cluster.tell(ingress, event)
  }
}
