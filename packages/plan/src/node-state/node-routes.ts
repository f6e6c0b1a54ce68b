import { type HttpRoute, isFiltered, type NodeRoute, type Service } from '@spout/model'

/** What nodes got for a route. It is reused as the same object, so that what it is compared with costs nothing. */
export type KnownNodeRoutes = WeakMap<HttpRoute, NodeRoute>

/**
 * A listener's routes as nodes get them, in their order, without disabled ones.
 * @param numbers numbers of the pools that nodes have, by id
 * @param known is added to; nothing else depends on it
 */
export function planRoutes(
  routes: readonly HttpRoute[],
  numbers: ReadonlyMap<string, number>,
  known: KnownNodeRoutes = new WeakMap(),
): Pick<Service, 'routes'> {
  const planned: NodeRoute[] = []
  for (const route of routes) {
    if (!route.enabled) continue
    const before = known.get(route)
    const now = before !== undefined && hasNumbers(before, route, numbers) ? before : nodeRoute(route, numbers)
    if (now !== before) known.set(route, now)
    planned.push(now)
  }
  return planned.length === 0 ? {} : { routes: planned }
}

/** Whether the pools still have the numbers that they had. */
function hasNumbers(planned: NodeRoute, { action }: HttpRoute, numbers: ReadonlyMap<string, number>): boolean {
  if (action.type !== 'forward' || planned.action.type !== 'forward') return true
  for (let at = 0; at < action.pools.length; at++)
    if ((numbers.get(action.pools[at]!.poolId) ?? null) !== planned.action.pools[at]!.pool) return false
  return true
}

const nodeRoute = ({ id, conditions, action }: HttpRoute, numbers: ReadonlyMap<string, number>): NodeRoute => ({
  id,
  conditions,
  action:
    action.type === 'forward'
      ? {
          type: 'forward',
          pools: action.pools.map(({ poolId, weight }) => ({ pool: numbers.get(poolId) ?? null, weight })),
          ...(isFiltered(action) && { filters: action.filters }),
          ...(action.timeouts !== undefined && { timeouts: action.timeouts }),
          ...(action.retry !== undefined && { retry: action.retry }),
        }
      : action,
})
