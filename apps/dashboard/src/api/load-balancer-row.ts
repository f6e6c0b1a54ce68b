export type LoadBalancerHealth = 'ok' | 'degraded' | 'failed' | 'pending' | 'off'

export interface LoadBalancerOwner {
  readonly kind: 'service' | 'ingress' | 'gateway' | 'load-balancer' | 'octavia'
  /** `namespace/name` of the object in the tenant's cluster; null where there is none. */
  readonly name: string | null
}

/** One row of the table of load balancers. */
export interface LoadBalancerRow {
  readonly id: string
  readonly projectId: string
  readonly projectName: string
  readonly name: string
  readonly health: LoadBalancerHealth
  /** Why it is not `ok`, a full sentence; null for `ok`. */
  readonly reason: string | null
  /** The primary one first. */
  readonly vips: readonly string[]
  readonly listeners: number
  readonly routes: number
  readonly members: { readonly total: number; readonly serving: number }
  /** Null: a program or person that used the native API. */
  readonly owner: LoadBalancerOwner | null
  readonly createdAt: string
  readonly updatedAt: string | null
  readonly connectionsPerSecond: number | null
  readonly bytesPerSecond: number | null
}
