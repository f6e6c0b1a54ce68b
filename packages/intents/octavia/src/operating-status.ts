import type { Listener, LoadBalancer, LoadBalancerStatus, Member, Pool } from '@spout/model'
import type { OperatingStatus } from './words.ts'

/** By the id of the load balancer and of everything below it. */
export type OperatingStatuses = ReadonlyMap<string, OperatingStatus>

/**
 * Octavia's operating statuses: members from their probes, a pool from its members, the load balancer from the worst
 * below it. Everything is OFFLINE until a node confirmed it once; a pool that no listener sends to stays OFFLINE.
 */
export function operatingStatuses(lb: LoadBalancer, status: LoadBalancerStatus): OperatingStatuses {
  const statuses = new Map<string, OperatingStatus>()
  const running = lb.enabled && status.confirmedGeneration > 0
  const used = new Set(lb.listeners.flatMap(({ defaultPoolId }) => (defaultPoolId === null ? [] : [defaultPoolId])))

  for (const pool of lb.pools) {
    const serves = running && pool.enabled && used.has(pool.id)
    for (const member of pool.members) statuses.set(member.id, memberStatus(member, pool, status))
    statuses.set(pool.id, serves ? poolStatus(pool, statuses) : 'OFFLINE')
    if (pool.monitor !== null) statuses.set(pool.monitor.id, running && pool.monitor.enabled ? 'ONLINE' : 'OFFLINE')
  }
  for (const listener of lb.listeners)
    statuses.set(listener.id, running && listener.enabled ? listenerStatus(listener, status) : 'OFFLINE')

  const below = [...lb.listeners, ...lb.pools].map(({ id }) => statuses.get(id))
  return statuses.set(lb.id, loadBalancerStatus(running, status, below))
}

function memberStatus(member: Member, pool: Pool, status: LoadBalancerStatus): OperatingStatus {
  if (!member.enabled || !pool.enabled) return 'OFFLINE'
  const watched = pool.monitor?.enabled ?? false
  const health = watched ? (status.members.get(member.id)?.health ?? 'unknown') : 'unwatched'
  switch (health) {
    case 'down':
      return 'ERROR'
    case 'unknown':
      return 'OFFLINE'
    case 'up':
      return member.weight === 0 ? 'DRAINING' : 'ONLINE'
    case 'unwatched':
      return member.weight === 0 ? 'DRAINING' : 'NO_MONITOR'
  }
}

function poolStatus(pool: Pool, statuses: OperatingStatuses): OperatingStatus {
  const members = pool.members.filter(({ enabled }) => enabled).map(({ id }) => statuses.get(id))
  const down = members.filter((one) => one === 'ERROR').length
  if (down === 0) return 'ONLINE'
  return down === members.length ? 'ERROR' : 'DEGRADED'
}

function listenerStatus(listener: Listener, status: LoadBalancerStatus): OperatingStatus {
  const active = status.stats.get(listener.id)?.activeConnections ?? 0
  return listener.connectionLimit !== null && active >= listener.connectionLimit ? 'DEGRADED' : 'ONLINE'
}

function loadBalancerStatus(
  running: boolean,
  status: LoadBalancerStatus,
  below: readonly (OperatingStatus | undefined)[],
): OperatingStatus {
  if (!running) return 'OFFLINE'
  if (status.provisioning === 'error' || below.includes('ERROR')) return 'ERROR'
  return below.includes('DEGRADED') ? 'DEGRADED' : 'ONLINE'
}
