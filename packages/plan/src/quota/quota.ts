import { conditionsOfRoutes, type LoadBalancer, QUOTA_RESOURCES, type QuotaResource } from '@spout/model'
import { type Problem, problem } from '../reason.ts'

export type Usage = Readonly<Record<QuotaResource, number>>

export const NO_USAGE: Usage = Object.freeze({
  loadBalancers: 0,
  listeners: 0,
  pools: 0,
  members: 0,
  healthMonitors: 0,
  routes: 0,
  routeConditions: 0,
  networks: 0,
  addresses: 0,
  certificates: 0,
  secrets: 0,
  securityGroups: 0,
  bytes: 0,
})

/**
 * The quota that one load balancer uses, without its bytes, and without its addresses, which are objects of their own.
 */
export function usageOf(loadBalancer: Pick<LoadBalancer, 'listeners' | 'pools'>): Usage {
  let members = 0
  let healthMonitors = 0
  for (const pool of loadBalancer.pools) {
    members += pool.members.length
    if (pool.monitor !== null) healthMonitors++
  }
  let [routes, routeConditions] = [0, 0]
  for (const listener of loadBalancer.listeners) {
    routes += listener.routes.length
    routeConditions += conditionsOfRoutes(listener.routes)
  }
  return {
    ...NO_USAGE,
    loadBalancers: 1,
    listeners: loadBalancer.listeners.length,
    pools: loadBalancer.pools.length,
    members,
    healthMonitors,
    routes,
    routeConditions,
  }
}

/** Combines two usages resource by resource. */
export const mapUsage = (a: Usage, b: Usage, each: (x: number, y: number) => number): Usage => ({
  loadBalancers: each(a.loadBalancers, b.loadBalancers),
  listeners: each(a.listeners, b.listeners),
  pools: each(a.pools, b.pools),
  members: each(a.members, b.members),
  healthMonitors: each(a.healthMonitors, b.healthMonitors),
  routes: each(a.routes, b.routes),
  routeConditions: each(a.routeConditions, b.routeConditions),
  networks: each(a.networks, b.networks),
  addresses: each(a.addresses, b.addresses),
  certificates: each(a.certificates, b.certificates),
  secrets: each(a.secrets, b.secrets),
  securityGroups: each(a.securityGroups, b.securityGroups),
  bytes: each(a.bytes, b.bytes),
})

export const addUsage = (a: Usage, b: Usage): Usage => mapUsage(a, b, (x, y) => x + y)
export const subtractUsage = (a: Usage, b: Usage): Usage => mapUsage(a, b, (x, y) => x - y)

/**
 * Why `more` exceeds the limits; null if it does not. Only resources that grow are checked, so that a project whose
 * quota was lowered below its use can still shrink.
 * @param usedOf called only for resources that grow
 */
export function overQuota(limits: Usage, usedOf: (resource: QuotaResource) => number, more: Usage): Problem | null {
  for (const resource of QUOTA_RESOURCES) {
    if (more[resource] <= 0) continue
    const [limit, used, wanted] = [limits[resource], usedOf(resource), more[resource]]
    if (used + wanted > limit) return problem('OverQuota', { resource, limit, used, wanted })
  }
  return null
}
