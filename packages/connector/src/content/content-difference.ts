import { isDeepStrictEqual } from 'node:util'
import type { LoadBalancer, Member, Pool } from '@spout/model'
import {
  type LoadBalancerContent,
  listenersOf,
  type MemberContent,
  type PoolContent,
  poolContentOf,
  poolless,
} from './content.ts'
import { type AlikeRoutes, piecesOf, type RouteChange, routeChange } from './route-difference.ts'

interface Endpoint {
  readonly address: string
  readonly port: number
}

/** A cache: the parts of wanted contents that parts of documents were last found to equal, in the same order. */
export interface AlikeParts {
  readonly pools: WeakMap<Pool, PoolContent>
  readonly routes: AlikeRoutes
}

export const alikeParts = (): AlikeParts => ({ pools: new WeakMap(), routes: new WeakMap() })

/** A change of some members of one pool. */
export interface PoolChange {
  readonly poolId: string
  /** Members that are new or that differ. */
  readonly put: readonly MemberContent[]
  readonly remove: readonly Endpoint[]
}

/**
 * How a document differs from the wanted content: not at all (`same`), only in members of pools and routes of listeners
 * (a list of changes), or in more (`whole`). The order of members does not count. It is called often and with many
 * members, so it does not copy them.
 */
export function differenceTo(
  document: LoadBalancer,
  wanted: LoadBalancerContent,
  alike = alikeParts(),
): 'same' | 'whole' | readonly (PoolChange | RouteChange)[] {
  if (!document.enabled || document.pools.length !== wanted.pools.length) return 'whole'
  if (!isDeepStrictEqual(frameOf(document), frame(wanted))) return 'whole'
  const changes: (PoolChange | RouteChange)[] = []
  for (const [at, pool] of document.pools.entries()) {
    const other = wanted.pools[at]!
    if (alike.pools.get(pool) === other) continue
    if (!isDeepStrictEqual(poolContentOf({ ...pool, members: [] }), { ...other, members: [] })) return 'whole'
    const { id, members } = pool
    const others = other.members
    if (members.length === others.length && members.every((member, index) => isAsWanted(member, others[index]!))) {
      alike.pools.set(pool, other)
      continue
    }
    const change = changeOf(id, members, others)
    // Two wanted members have the same endpoint: written as a whole, they are refused with the control plane's reason.
    if (change === null) return 'whole'
    if (change.put.length + change.remove.length > 0) changes.push(change)
  }
  const poolNames = new Map(document.pools.map(({ id, name }) => [id, name]))
  for (const [at, { id, routes = [] }] of document.listeners.entries()) {
    const change = routeChange(id, routes, wanted.listeners[at]?.routes ?? [], poolNames, alike.routes)
    if (change === 'whole') return 'whole'
    // Routes come after members: a route may be about to send to a pool that has had no members.
    if (change !== null) changes.push(...piecesOf(change))
  }
  return changes.length === 0 ? 'same' : changes
}

/** Whether a document has the wanted content. */
export const says = (document: LoadBalancer, wanted: LoadBalancerContent): boolean =>
  differenceTo(document, wanted) === 'same'

/** @returns null when two wanted members have the same endpoint */
function changeOf(poolId: string, members: readonly Member[], wanted: readonly MemberContent[]): PoolChange | null {
  // Both lists are sorted by address, so they mostly begin with the same members.
  let first = 0
  const isSameAt = (at: number) => at < members.length && at < wanted.length && isAsWanted(members[at]!, wanted[at]!)
  while (isSameAt(first)) first++
  const [last, next] = [wanted[first - 1], wanted[first]]
  if (last !== undefined && next !== undefined && keyOf(last) === keyOf(next)) return null
  const left = new Map(members.slice(first).map((member) => [keyOf(member), member]))
  const put: MemberContent[] = []
  const seen = new Set<string>()
  for (const one of wanted.slice(first)) {
    const key = keyOf(one)
    if (seen.has(key)) return null
    seen.add(key)
    const member = left.get(key)
    if (member === undefined || !isAsWanted(member, one)) put.push(one)
    left.delete(key)
  }
  return { poolId, put, remove: [...left.values()].map(({ address, port }) => ({ address, port })) }
}

const keyOf = ({ address, port }: Endpoint): string => `${address} ${port}`
/** Field by field for speed: it runs for millions of members. A test fails when a field is missing here. */
const isAsWanted = (member: Member, wanted: MemberContent): boolean =>
  member.address === wanted.address &&
  member.port === wanted.port &&
  member.name === wanted.name &&
  member.weight === wanted.weight &&
  member.monitorPort === wanted.monitorPort

/** The content without its pools, routes and tags. */
const frame = ({ tags: _, pools: __, ...content }: LoadBalancerContent): Omit<LoadBalancerContent, 'pools'> => ({
  ...content,
  listeners: content.listeners.map(({ routes: _, ...listener }) => listener),
})
const frameOf = (document: LoadBalancer): Omit<LoadBalancerContent, 'pools'> => ({
  ...poolless(document),
  listeners: listenersOf({
    ...document,
    listeners: document.listeners.map((listener) => ({ ...listener, routes: [] })),
  }),
})
