import { keyOf, type TenantObject, type TenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'
import { classOf } from '../to-model/classes.ts'

/** The Ingresses of a cluster, as tenancy assigns them to projects. */
export class TenantIngresses implements TenantObjects {
  readonly kind = 'ingress'
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get ready(): boolean {
    return this.#cluster.ready
  }

  get(key: string): TenantObject | null {
    const ingress = this.#cluster.ingress(key)
    if (ingress === undefined) return null
    const leaves =
      ingress.metadata.deletionTimestamp !== undefined || classOf(ingress, this.#cluster.classes()) === null
    return { object: ingress, sharesWith: [], leaves }
  }

  onChange(listener: (key: string) => void): () => void {
    return this.#cluster.onChange((change) => {
      if (change.type === 'ingress') listener(change.key)
      // A class makes Ingresses ours, or foreign.
      if (change.type === 'classes') for (const ingress of this.#cluster.ingresses()) listener(keyOf(ingress))
    })
  }
}
