import type { TenantObject, TenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'
import { ownershipOf } from '../controller/ownership.ts'
import { withAddresses } from '../controller/shown-addresses.ts'

/** The Gateways of a cluster that are ours, as tenancy assigns them to projects. */
export class TenantGateways implements TenantObjects {
  readonly kind = 'gateway'
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get ready(): boolean {
    return this.#cluster.ready
  }

  get(key: string): TenantObject | null {
    const gateway = this.#cluster.gateway(key)
    if (gateway === undefined) return null
    const ofClass = this.#cluster.gatewayClass(gateway.spec.gatewayClassName)
    const ownership = ownershipOf(gateway, ofClass, this.#cluster.isClaimed(gateway))
    return { object: withAddresses(gateway), sharesWith: [], leaves: ownership !== 'ours' }
  }

  onChange(listener: (key: string) => void): () => void {
    return this.#cluster.onChange((change) => {
      if (change.type === 'gateway') listener(change.key)
      if (change.type !== 'class') return
      for (const { metadata, spec } of this.#cluster.gateways())
        if (spec.gatewayClassName === change.key) listener(`${metadata.namespace ?? ''}/${metadata.name}`)
    })
  }
}
