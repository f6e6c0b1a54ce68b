import type { ConnectionRouteObject } from '../objects/connection-routes.ts'
import type { BackendShare, CompiledRules, ResolveBackend } from '../route-kinds/route-kind.ts'
import type { Objection } from './verdict.ts'

/** Who gets the connections of a TCPRoute or UDPRoute: those of its references that resolve. */
export function compileConnections({ spec }: ConnectionRouteObject, resolve: ResolveBackend): CompiledRules {
  const shares: BackendShare[] = []
  let unresolved: Objection | null = null
  for (const ref of (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs)) {
    const backend = resolve(ref)
    if ('unresolved' in backend) unresolved ??= backend.unresolved
    else shares.push({ backend, weight: ref.weight ?? 1 })
  }
  return { routes: [], shares, backends: new Map(), dropped: new Map(), unresolved }
}
