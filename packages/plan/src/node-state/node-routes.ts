import { type HttpRoute, isFiltered, type NodeRoute, type Service } from '@spout/model'

/**
 * A listener's routes as nodes get them, in their order, without disabled ones.
 * @param numbers numbers of the pools that nodes have, by id
 */
export function planRoutes(
  routes: readonly HttpRoute[],
  numbers: ReadonlyMap<string, number>,
): Pick<Service, 'routes'> {
  const enabled = routes.filter((route) => route.enabled)
  return enabled.length === 0 ? {} : { routes: enabled.map((route) => nodeRoute(route, numbers)) }
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
        }
      : action,
})
