import { keyOf, type TenantObjects, tenantObjects } from '@spout/connector'
import type { Cluster } from '../controller/cluster.ts'
import { ownershipOf } from '../controller/ownership.ts'
import { withAddresses } from '../controller/shown-addresses.ts'

/** The Gateways of a cluster, in the form in which tenancy assigns objects to projects. */
export const tenantGateways = (cluster: Cluster): TenantObjects =>
  tenantObjects({
    kind: 'gateway',
    cluster,
    get: (key) => {
      const gateway = cluster.gateway(key)
      if (gateway === undefined) return null
      const ofClass = cluster.gatewayClass(gateway.spec.gatewayClassName)
      const ownership = ownershipOf(gateway, ofClass, cluster.isClaimed(gateway))
      return { object: withAddresses(gateway), sharesWith: [], leaves: ownership !== 'ours' }
    },
    keysOf: (change) => {
      if (change.type === 'gateway') return [change.key]
      if (change.type !== 'class') return []
      return [...cluster.gateways()].filter(({ spec }) => spec.gatewayClassName === change.key).map(keyOf)
    },
  })
