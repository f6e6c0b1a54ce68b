import { poolNamesOf } from '@spout/connector'
import { type RouteObject, routeIdOf } from '../../objects/route.ts'
import { expressionsOf } from '../attachment/expressions.ts'
import type { Backend, BackendSurroundings } from '../backends/backends.ts'
import { isUsable, type JudgedListener } from '../listeners/listeners.ts'
import type { BackendShare, PlacedRoute } from '../rules/route-kind.ts'
import { sharedPoolNameOf } from '../rules/shared-pool.ts'
import { backendResolver } from './backend-resolver.ts'
import { type CompileRoute, compileRoute } from './compiled-routes.ts'
import { type NamesOfRoute, namesOfRoute } from './dns-names.ts'

/** A compiled route: what it contributes to the load balancer of its Gateway. */
export interface RoutePart {
  /** `kind/namespace/name` */
  readonly id: string
  readonly kind: string
  readonly route: RouteObject
  /** Its regular expressions, whether or not it is attached. */
  readonly expressions: ReadonlySet<string>
  /** Listeners that it is attached to, whether or not they are usable. */
  readonly attached: readonly JudgedListener[]
  /** The attachments to usable listeners. */
  readonly placed: readonly PlacedPart[]
  readonly names: NamesOfRoute
}

/** What a route contributes to one usable listener. */
export interface PlacedPart {
  readonly listener: JudgedListener
  readonly routes: readonly PlacedRoute[]
  /** The backends of a route that takes the whole listener; null for other kinds. */
  readonly shares: { readonly pool: string; readonly shares: readonly BackendShare[] } | null
  readonly backends: ReadonlyMap<string, Backend>
  /** Names of pools that the routes send to. */
  readonly pools: readonly string[]
}

export interface PartSurroundings extends BackendSurroundings {
  readonly domains: readonly string[]
  readonly compile?: CompileRoute
}

/** Compiles a route. @param at the listeners that it is attached to, with the hosts that it serves there */
export function partOf(
  route: RouteObject,
  at: Iterable<readonly [JudgedListener, readonly string[]]>,
  surroundings: PartSurroundings,
): RoutePart {
  const { compile = compileRoute, domains } = surroundings
  const resolve = backendResolver(route, surroundings)
  const all = [...at]
  const usable = all.filter(([listener]) => isUsable(listener))
  const placed = usable.map(([listener, hosts]): PlacedPart => {
    const { routes, shares, backends } = compile(route, hosts, { ...listener.listener, name: listener.id }, resolve)
    const named = shares === undefined ? null : { pool: sharedPoolNameOf(route), shares }
    return { listener, routes, shares: named, backends, pools: routes.flatMap(({ content }) => poolNamesOf(content)) }
  })
  const hosts = usable.map(([, own]) => own)
  return {
    ...{ id: routeIdOf(route), kind: route.kind, route, expressions: expressionsOf(route) },
    ...{ attached: all.map(([listener]) => listener), placed, names: namesOfRoute(route, hosts, domains) },
  }
}
