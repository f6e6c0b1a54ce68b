import { type TenantObjects, tenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'

/** The LoadBalancer objects of a cluster, as tenancy assigns them to projects. */
export const tenantLoadBalancers = (cluster: Cluster): TenantObjects =>
  tenantObjects({
    kind: 'load-balancer',
    cluster,
    get: (key) => {
      const object = cluster.object(key)
      if (object === undefined) return null
      const { metadata, status } = object
      const addresses = (status?.['addresses'] as readonly string[] | undefined) ?? []
      const shown = { loadBalancer: { ingress: addresses.map((ip) => ({ ip })) } }
      return { object: { metadata, status: shown }, sharesWith: [], leaves: metadata.deletionTimestamp !== undefined }
    },
    keysOf: ({ type, key }) => (type === 'object' ? [key] : []),
  })
