import { uidOf } from '@spout/connector'
import type { RouteObject } from '../../objects/route.ts'
import type { Objection } from '../fields/objection.ts'
import { allListeners, type JudgedParents, type Labels } from '../listeners/listener-parents.ts'
import type { JudgedListener } from '../listeners/listeners.ts'
import { listenersOf } from './attachment.ts'
import { expressionsOf, expressionsRefused } from './expressions.ts'
import { type RouteAtListener, rivalsRefused } from './rivals.ts'

interface Surroundings {
  readonly labelsOf: (namespace: string) => Labels | null
}

/**
 * The routes of each listener of a Gateway, without those that an older rival excludes, or whose expressions exceed the
 * limit.
 * @param routes the routes that name the Gateway
 */
export function routesAtListeners(
  parents: JudgedParents,
  routes: readonly RouteObject[],
  surroundings: Surroundings,
): ReadonlyMap<JudgedListener, readonly RouteAtListener[]> {
  const all = allAtListeners(parents, routes, surroundings)
  const attached = without(all, rivalsRefused)
  const refused = expressionsRefused(all.values())
  return refused.size === 0 ? attached : without(attached, () => refused)
}

/**
 * Why the expressions of a route exceed the limit of a Gateway; null when they do not. The expressions of routes that a
 * rival excludes count, too: to leave them out, one would have to read all routes, while few have expressions.
 * @param routes the routes that name the Gateway and have expressions
 */
export function tooManyExpressions(
  route: RouteObject,
  parents: JudgedParents,
  routes: () => readonly RouteObject[],
  surroundings: Surroundings,
): Objection | null {
  if (expressionsOf(route).size === 0) return null
  const attached = allAtListeners(parents, routes(), surroundings)
  return expressionsRefused(attached.values()).get(uidOf(route)) ?? null
}

type AtListeners = ReadonlyMap<JudgedListener, readonly RouteAtListener[]>

/** @param refusedOf the UIDs of routes to leave out, among the routes of one listener */
function without(
  attached: AtListeners,
  refusedOf: (own: readonly RouteAtListener[]) => ReadonlyMap<string, unknown>,
): AtListeners {
  return new Map(
    attached.entries().map(([listener, own]) => {
      const refused = refusedOf(own)
      return [listener, refused.size === 0 ? own : own.filter(({ route }) => !refused.has(uidOf(route)))] as const
    }),
  )
}

/** The routes that attach to each listener through any of their references, with the hosts that they serve there. */
export function allAtListeners(
  parents: JudgedParents,
  routes: readonly RouteObject[],
  { labelsOf }: Surroundings,
): ReadonlyMap<JudgedListener, readonly RouteAtListener[]> {
  const attached = new Map<JudgedListener, RouteAtListener[]>(allListeners(parents).map((one) => [one, []]))
  for (const route of routes)
    for (const [one, hosts] of listenersOf(parents, route, labelsOf)) attached.get(one)?.push({ route, hosts })
  return attached
}
