import type { TenantObject, TenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'

/** The LoadBalancer objects of a cluster, as tenancy assigns them to projects. */
export class TenantLoadBalancers implements TenantObjects {
  readonly kind = 'load-balancer'
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get ready(): boolean {
    return this.#cluster.ready
  }

  get(key: string): TenantObject | null {
    const object = this.#cluster.object(key)
    if (object === undefined) return null
    const { metadata, status } = object
    const addresses = (status?.['addresses'] as readonly string[] | undefined) ?? []
    const shown = { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } }
    return { object: { metadata, status: shown }, sharesWith: [], leaves: metadata.deletionTimestamp !== undefined }
  }

  onChange(listener: (key: string) => void): () => void {
    return this.#cluster.onChange((change) => {
      if (change.type === 'object') listener(change.key)
    })
  }
}
