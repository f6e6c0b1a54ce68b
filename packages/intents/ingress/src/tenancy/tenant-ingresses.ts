import { keyOf, type TenantObjects, tenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'
import { classOf } from '../to-model/classes.ts'

/** The Ingresses of a cluster, in the form in which tenancy assigns objects to projects. */
export const tenantIngresses = (cluster: Cluster): TenantObjects =>
  tenantObjects({
    kind: 'ingress',
    cluster,
    get: (key) => {
      const ingress = cluster.ingress(key)
      if (ingress === undefined) return null
      const leaves = ingress.metadata.deletionTimestamp !== undefined || classOf(ingress, cluster.classes()) === null
      return { object: ingress, sharesWith: [], leaves }
    },
    keysOf: (change) => {
      if (change.type === 'ingress') return [change.key]
      // A changed class can make Ingresses ours, or another controller's.
      return change.type === 'classes' ? [...cluster.ingresses()].map(keyOf) : []
    },
  })
