import { sameJson } from '@spout/model'
import type { BackendRef } from '../../objects/references.ts'
import type { RouteObject } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import type { CompiledRules, ResolveBackend, RouteListener } from '../rules/route-kind.ts'

/** The rules of a route at one listener. */
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
  /** How its references were resolved. */
  readonly resolved: readonly (readonly [BackendRef, ReturnType<ResolveBackend>])[]
  readonly rules: CompiledRules
}

/** No route has more listeners. When there are more entries, those of removed listeners are dropped. */
const MOST_KEPT = 64

/**
 * Compiles routes, and keeps what came of it: a Gateway is compiled as a whole whenever one of its routes changes, and the
 * others are as before. A route is compiled again when its spec is another object, or one of its references resolves
 * otherwise. Its content is the same object until then.
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
