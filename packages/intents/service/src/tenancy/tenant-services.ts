import { type TenantObjects, tenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'
import { type OwnershipSettings, ownershipOf } from '../to-model/ownership.ts'
import { namespacesSharedWith } from '../to-model/sharing.ts'

/** The Services of a cluster that are ours, as tenancy assigns them to projects. */
export const tenantServices = (cluster: Cluster, settings: OwnershipSettings): TenantObjects =>
  tenantObjects({
    kind: 'service',
    cluster,
    get: (key) => {
      const service = cluster.service(key)
      const ownership = service === undefined ? 'foreign' : ownershipOf(service, settings)
      if (service === undefined || ownership === 'foreign') return null
      return { object: service, sharesWith: namespacesSharedWith(service), leaves: ownership !== 'ours' }
    },
    keysOf: (change) => (change.type === 'service' ? [change.key] : []),
  })
