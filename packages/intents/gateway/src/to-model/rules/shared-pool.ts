import { type BackendPool, type MemberContent, mostMembers, type PoolContent } from '@spout/connector'
import { type RouteObject, routeIdOf } from '../../objects/route.ts'
import type { Backend } from '../backends/backends.ts'
import type { BackendShare } from './route-kind.ts'

const MOST_WEIGHT = 256
const LONGEST_NAME = 255

/** The name of a route's pool: the id of the route if it is short enough, else its UID. */
export function sharedPoolNameOf(route: RouteObject): string {
  const id = routeIdOf(route)
  return id.length <= LONGEST_NAME ? id : `${route.kind}/${route.metadata.uid}`
}

/**
 * One pool with the endpoints of several backends, because a listener of the packet path sends to one pool. The members
 * of a backend divide its weight evenly; weights are scaled to whole numbers from 1 to 256. An endpoint of two backends
 * has the sum. The share of backends that do not resolve, or have no endpoint, is refused, as the API requires. If
 * there are more endpoints than a pool can have, each backend may have the same number.
 * @param poolOf makes a pool with the endpoints of one backend
 * @returns null when no backend resolves
 */
export function sharedPool(
  name: string,
  shares: readonly BackendShare[],
  poolOf: (name: string, backend: Backend) => BackendPool,
): BackendPool | null {
  const pools = shares.flatMap(({ backend, weight }) =>
    backend === null ? [] : [{ ...poolOf(name, backend), weight }],
  )
  const [first] = pools
  if (first === undefined) return null
  const parts = new Map<string, { readonly member: MemberContent; readonly part: number }>()
  const all = pools.reduce((sum, { pool }) => sum + pool.members.length, 0)
  const most = mostMembers(first.pool.protocol)
  const room = all > most ? Math.floor(most / pools.length) : most
  let leftOut = 0
  for (const { pool, leftOut: beyond, weight } of pools) {
    const own = pool.members.slice(0, room)
    leftOut += beyond + pool.members.length - own.length
    for (const member of own) {
      const key = `${member.address} ${member.port}`
      const part = (parts.get(key)?.part ?? 0) + weight / own.length
      parts.set(key, { member, part })
    }
  }
  const weights = wholeNumbers([...parts.values()].map(({ part }) => part))
  const members = [...parts.values()].map(({ member }, at) => ({ ...member, weight: weights[at] ?? 1 }))
  const refusedPercent = members.length === 0 ? 0 : refusedPercentOf(shares, pools)
  const refuses = refusedPercent > 0 && refusedPercent < 100 && { refusedPercent }
  return { pool: { ...first.pool, members, ...refuses }, leftOut }
}

interface Share {
  readonly weight: number
}

/**
 * The percentage of connections to refuse, with four decimals: enough for a slot table, which has 4,096 slots at most.
 */
function refusedPercentOf(
  shares: readonly Share[],
  pools: readonly (Share & { readonly pool: Pick<PoolContent, 'members'> })[],
): number {
  const sum = (all: readonly Share[]): number => all.reduce((total, { weight }) => total + weight, 0)
  const [whole, served] = [sum(shares), sum(pools.filter(({ pool }) => pool.members.length > 0))]
  return whole === 0 ? 0 : Math.round((1_000_000 * (whole - served)) / whole) / 10_000
}

/**
 * Scales numbers to whole numbers up to 256: in the exact proportion if one exists, else rounded. Nothing but 0 becomes
 * 0.
 */
function wholeNumbers(parts: readonly number[]): readonly number[] {
  const most = Math.max(...parts, 0)
  if (most === 0) return parts.map(() => 0)
  for (let factor = 1; factor <= MOST_WEIGHT; factor++) {
    const scaled = parts.map((part) => (part * factor) / most)
    if (scaled.every((one) => Math.abs(one - Math.round(one)) < 1e-9)) return scaled.map(Math.round)
  }
  return parts.map((part) => (part === 0 ? 0 : Math.max(1, Math.round((part * MOST_WEIGHT) / most))))
}
