import type { PlacedRoute } from '../route-kinds/route-kind.ts'
import { byPrecedence } from './precedence.ts'

/** A route of the load balancer, and the route of the cluster that it is made of. */
export interface OwnedRoute extends PlacedRoute {
  /** `kind/namespace/name` */
  readonly owner: string
}

/** More than these at once are sorted together with the others. */
const FEW = 64

/**
 * The routes of a listener in their order, without those of some owners and with others. Few that come are compared
 * with few of those that are there. Of equal precedence are only routes of one owner, which keep their order.
 */
export function withChanged(
  sorted: readonly OwnedRoute[],
  gone: ReadonlySet<string>,
  come: readonly OwnedRoute[],
): readonly OwnedRoute[] {
  const all = gone.size === 0 ? [...sorted] : sorted.filter(({ owner }) => !gone.has(owner))
  if (come.length > FEW) return [...all, ...come].sort((a, b) => byPrecedence(a.precedence, b.precedence))
  for (const one of come) all.splice(placeOf(one, all), 0, one)
  return all
}

/** Behind all that do not stand after it. */
function placeOf({ precedence }: OwnedRoute, sorted: readonly OwnedRoute[]): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byPrecedence(sorted[middle]!.precedence, precedence) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
