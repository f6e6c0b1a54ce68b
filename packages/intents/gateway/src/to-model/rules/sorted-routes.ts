import { byPrecedence } from './precedence.ts'
import type { PlacedRoute } from './route-kind.ts'

/** A route of the load balancer, with the id of the route in the cluster that it is made of. */
export interface OwnedRoute extends PlacedRoute {
  /** `kind/namespace/name` */
  readonly owner: string
}

/** Up to this many new routes are inserted one by one; more are sorted together with the existing ones. */
const FEW = 64

/**
 * Replaces the routes of some owners in a sorted list. Only routes of one owner can have equal precedence; they keep
 * their order.
 * @param gone the owners whose routes are removed
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

/** The index behind all routes with the same or higher precedence. */
function placeOf({ precedence }: OwnedRoute, sorted: readonly OwnedRoute[]): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byPrecedence(sorted[middle]!.precedence, precedence) <= 0) low = middle + 1
    else high = middle
  }
  return low
}
