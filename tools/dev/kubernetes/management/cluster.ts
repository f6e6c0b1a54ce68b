/** The name of the provider's cluster, of its place in the lab and of its directory. */
export const CLUSTER = 'provider'
/** It has no nodes: members are pods of the tenants' own clusters. */
export const CLUSTER_OPTIONS = { name: CLUSTER, number: 1 } as const
