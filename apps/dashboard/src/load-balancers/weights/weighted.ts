import type { LoadBalancer } from '@spout/model'
import { endpointText } from '@spout/net'

/** Where traffic is shared by weight: among the pools of a route, or among the members of a pool. */
export type WeightPlace =
  | { readonly of: 'route'; readonly listenerId: string; readonly routeId: string }
  | { readonly of: 'pool'; readonly poolId: string }

/** One that gets a share. */
export interface Weighted {
  readonly id: string
  readonly name: string
  readonly weight: number
}

/** More than these have no sliders: nobody sets a hundred by hand. */
export const MOST_WEIGHTED = 12

type Document = Pick<LoadBalancer, 'listeners' | 'pools'>

/**
 * Those that share the traffic of a place; empty when it is gone. Members that are off or a reserve get none of it,
 * whatever their weight.
 */
export function weightedAt({ listeners, pools }: Document, place: WeightPlace): readonly Weighted[] {
  if (place.of === 'route') {
    const listener = listeners.find(({ id }) => id === place.listenerId)
    const action = listener?.routes.find(({ id }) => id === place.routeId)?.action
    if (action?.type !== 'forward') return []
    return action.pools.map(({ poolId: id, weight }) => ({
      id,
      weight,
      name: pools.find((pool) => pool.id === id)?.name || id,
    }))
  }
  const members = pools.find(({ id }) => id === place.poolId)?.members ?? []
  return members
    .filter(takesShare)
    .map(({ id, name, address, port, weight }) => ({ id, weight, name: name || endpointText({ address, port }) }))
}

const takesShare = ({ enabled, backup }: { readonly enabled: boolean; readonly backup: boolean }): boolean =>
  enabled && !backup

/** The document with other weights in one place. @param weights by the ids of `weightedAt`; others stay */
export function withWeights<D extends Document>(
  document: D,
  place: WeightPlace,
  weights: ReadonlyMap<string, number>,
): D {
  const given = <P extends { readonly weight: number }>(part: P, id: string): P => ({
    ...part,
    weight: weights.get(id) ?? part.weight,
  })
  if (place.of === 'pool')
    return {
      ...document,
      pools: document.pools.map((pool) =>
        pool.id === place.poolId ? { ...pool, members: pool.members.map((member) => given(member, member.id)) } : pool,
      ),
    }
  return {
    ...document,
    listeners: document.listeners.map((listener) =>
      listener.id === place.listenerId
        ? { ...listener, routes: listener.routes.map((route) => (route.id === place.routeId ? weighed(route) : route)) }
        : listener,
    ),
  }

  function weighed(route: Document['listeners'][number]['routes'][number]) {
    const { action } = route
    if (action.type !== 'forward') return route
    return { ...route, action: { ...action, pools: action.pools.map((share) => given(share, share.poolId)) } }
  }
}

/** Whether the same ones have the same weights. What they are called does not matter. */
export const isAlike = (some: readonly Weighted[], others: readonly Weighted[]): boolean =>
  some.length === others.length &&
  some.every(({ id, weight }, at) => others[at]?.id === id && others[at].weight === weight)

/** A line for each, to show what differs. */
export const weightLines = (all: readonly Weighted[]): string =>
  all.map(({ name, weight }) => `${name}: weight ${weight}`).join('\n')
