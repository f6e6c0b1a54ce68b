import {
  type Listener,
  type LoadBalancer,
  type LoadBalancerStatus,
  type Member,
  type Pool,
  type Serving,
  usedPoolIds,
} from '@spout/model'
import { isNoop } from '../terms/facts.ts'
import type { OperatingStatus } from '../terms/words.ts'

/** The status of each pool, by pool id. It follows from the pool's members. */
type PoolStatuses = ReadonlyMap<string, OperatingStatus>

/**
 * A cache of pools' statuses. A list of load balancers shows no members, but the statuses follow from all of them. So a
 * pool is computed again only when its load balancer or the health of its members has changed.
 */
export class KnownPools {
  readonly #known = new WeakMap<LoadBalancer, { readonly serving: Serving; readonly statuses: PoolStatuses }>()

  of(lb: LoadBalancer, status: LoadBalancerStatus): PoolStatuses {
    const known = this.#known.get(lb)
    // This object is replaced whenever the health of a member, or the node that reports it, changes.
    if (known?.serving === status.serving) return known.statuses
    const { members } = status
    const statuses = new Map(lb.pools.map((pool) => [pool.id, poolStatus(pool, members)]))
    this.#known.set(lb, { serving: status.serving, statuses })
    return statuses
  }
}

/**
 * Computes Octavia's operating statuses. That of a member follows from its probes, that of a pool from its members,
 * that of the load balancer from the worst one below it. Everything is OFFLINE until a node has confirmed it. A pool
 * without a listener stays OFFLINE.
 * @returns the status for an id of the load balancer or anything below it; OFFLINE for other ids
 */
export function operatingStatuses(
  lb: LoadBalancer,
  status: LoadBalancerStatus,
  known: KnownPools,
): (id: string) => OperatingStatus {
  const statuses = new Map<string, OperatingStatus>()
  const noop = isNoop(lb)
  const running = lb.enabled && status.confirmedGeneration > 0 && !noop
  const used = usedPoolIds(lb.listeners)
  const pools = known.of(lb, status)

  for (const pool of lb.pools) {
    const serves = running && pool.enabled && used.has(pool.id)
    statuses.set(pool.id, serves ? (pools.get(pool.id) ?? 'OFFLINE') : 'OFFLINE')
    if (pool.monitor !== null)
      statuses.set(pool.monitor.id, (running || noop) && pool.monitor.enabled ? 'ONLINE' : 'OFFLINE')
  }
  for (const listener of lb.listeners)
    statuses.set(listener.id, running && listener.enabled ? listenerStatus(listener, status) : 'OFFLINE')

  const below = [...lb.listeners, ...lb.pools].map(({ id }) => statuses.get(id))
  statuses.set(lb.id, loadBalancerStatus(running, status, below))
  let members: ReadonlyMap<string, OperatingStatus> | null = null
  return (id) => {
    const said = statuses.get(id)
    if (said !== undefined) return said
    members ??= memberStatuses(lb, status.members)
    const found = members.get(id) ?? 'OFFLINE'
    return noop && !watchedMember(lb, id) ? 'NO_MONITOR' : found
  }
}

type Healths = LoadBalancerStatus['members']

const memberStatuses = (lb: LoadBalancer, healths: Healths): ReadonlyMap<string, OperatingStatus> =>
  new Map(lb.pools.flatMap((pool) => pool.members.map((one) => [one.id, memberStatus(one, pool, healths)] as const)))

/** Whether a member has a monitor. Without one, Octavia's noop driver never changes its status. */
const watchedMember = ({ pools }: LoadBalancer, id: string): boolean =>
  pools.some(({ monitor, members }) => monitor?.enabled && members.some((member) => member.id === id))

function memberStatus(member: Member, pool: Pool, healths: Healths): OperatingStatus {
  if (!member.enabled || !pool.enabled) return 'OFFLINE'
  const watched = pool.monitor?.enabled ?? false
  const health = watched ? (healths.get(member.id)?.health ?? 'unknown') : 'unwatched'
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

function poolStatus(pool: Pool, healths: Healths): OperatingStatus {
  const members = pool.members.filter(({ enabled }) => enabled).map((member) => memberStatus(member, pool, healths))
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
