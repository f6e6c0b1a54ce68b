import { uidOf } from '@spout/connector'
import type { RouteObject } from '../objects/route.ts'
import { listenersOf } from './attachment.ts'
import { allListeners, type JudgedParents, type Labels } from './listener-parents.ts'
import type { JudgedListener } from './listeners.ts'
import { type RouteAtListener, rivalsRefused } from './rivals.ts'

interface Surroundings {
  readonly labelsOf: (namespace: string) => Labels | null
}

/** The routes of each listener of a Gateway, without those that a rival keeps away. @param routes that name the Gateway */
export function routesAtListeners(
  parents: JudgedParents,
  routes: readonly RouteObject[],
  surroundings: Surroundings,
): ReadonlyMap<JudgedListener, readonly RouteAtListener[]> {
  const attached = allAtListeners(parents, routes, surroundings)
  return new Map(
    attached.entries().map(([listener, own]) => {
      const refused = rivalsRefused(own)
      return [listener, refused.size === 0 ? own : own.filter(({ route }) => !refused.has(uidOf(route)))] as const
    }),
  )
}

/** The routes that attach to each listener through any of their references, with their names there. */
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
