import { sameJson } from '@spout/model'
import type { BackendRef } from '../../objects/references.ts'
import type { RouteObject } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import type { CompiledRules, ResolveBackend, RouteListener } from '../rules/route-kind.ts'

/** Compiles the rules of a route for one listener. */
export type CompileRoute = (
  route: RouteObject,
  hosts: readonly string[],
  listener: RouteListener,
  resolve: ResolveBackend,
) => CompiledRules

export const compileRoute: CompileRoute = (route, hosts, listener, resolve) =>
  kindOf(route).compile(route, hosts, listener, resolve)

interface Kept {
  readonly uid: string | undefined
  /** Each backend reference, and how it was resolved. */
  readonly resolved: readonly (readonly [BackendRef, ReturnType<ResolveBackend>])[]
  readonly rules: CompiledRules
}

/**
 * Entries for one route. With more, some must be of listeners that are gone, so the route starts with an empty cache.
 */
const MOST_KEPT = 64

/**
 * A cache of compiled routes. Compiling a Gateway as a whole, and writing the statuses of its routes, asks for routes
 * of which most are unchanged. A route is compiled again when its spec is another object, or when one of its references
 * resolves differently. Until then the result is the same object.
 */
export class CompiledRoutes {
  readonly #kept = new WeakMap<object, Map<string, Kept>>()

  readonly compile: CompileRoute = (route, hosts, listener, resolve) => {
    const { spec, metadata } = route
    const key = JSON.stringify([listener.name, listener.protocol, listener.port, hosts])
    const ofRoute = this.#kept.get(spec)
    const known = ofRoute?.get(key)
    if (known !== undefined && known.uid === metadata.uid && known.resolved.every(isResolvedAlike(resolve)))
      return known.rules
    const resolved: (readonly [BackendRef, ReturnType<ResolveBackend>])[] = []
    const rules = compileRoute(route, hosts, listener, (ref) => {
      const found = resolve(ref)
      resolved.push([ref, found])
      return found
    })
    const kept = ofRoute === undefined || ofRoute.size >= MOST_KEPT ? new Map<string, Kept>() : ofRoute
    this.#kept.set(spec, kept.set(key, { uid: metadata.uid, resolved, rules }))
    return rules
  }
}

const isResolvedAlike =
  (resolve: ResolveBackend) =>
  ([ref, found]: Kept['resolved'][number]): boolean =>
    sameJson(resolve(ref), found)
