import type { RouteObject } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import { type BackendSurroundings, resolveBackend } from '../backends/backends.ts'
import type { ResolveBackend } from '../rules/route-kind.ts'

/** A function that resolves the backend references of a route. */
export const backendResolver = (route: RouteObject, surroundings: BackendSurroundings): ResolveBackend => {
  const { kind, backends: protocol } = kindOf(route)
  const { namespace = '' } = route.metadata
  return (ref) => resolveBackend(ref, { kind, namespace, protocol }, surroundings)
}
