import type { TenantObject, TenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'
import { type OwnershipSettings, ownershipOf } from '../to-model/ownership.ts'
import { namespacesSharedWith } from '../to-model/sharing.ts'

/** The Services of a cluster that are ours, as tenancy assigns them to projects. */
export class TenantServices implements TenantObjects {
  readonly kind = 'service'
  readonly #cluster: Cluster
  readonly #settings: OwnershipSettings

  constructor(cluster: Cluster, settings: OwnershipSettings) {
    this.#cluster = cluster
    this.#settings = settings
  }

  get ready(): boolean {
    return this.#cluster.ready
  }

  get(key: string): TenantObject | null {
    const service = this.#cluster.service(key)
    const ownership = service === undefined ? 'foreign' : ownershipOf(service, this.#settings)
    if (service === undefined || ownership === 'foreign') return null
    return { object: service, sharesWith: namespacesSharedWith(service), leaves: ownership !== 'ours' }
  }

  onChange(listener: (key: string) => void): () => void {
    return this.#cluster.onChange((change) => {
      if (change.type === 'service') listener(change.key)
    })
  }
}
