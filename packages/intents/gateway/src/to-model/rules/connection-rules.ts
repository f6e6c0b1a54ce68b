import type { ConnectionRouteObject } from '../../objects/connection-routes.ts'
import type { Objection } from '../fields/objection.ts'
import type { BackendShare, CompiledRules, ResolveBackend } from './route-kind.ts'

/**
 * Compiles a TCPRoute or UDPRoute to the backends that share its connections. The share of a reference that does not
 * resolve is refused, not given to the others.
 */
export function compileConnections({ spec }: ConnectionRouteObject, resolve: ResolveBackend): CompiledRules {
  const shares: BackendShare[] = []
  let unresolved: Objection | null = null
  for (const ref of (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs)) {
    const backend = resolve(ref)
    if ('unresolved' in backend) unresolved ??= backend.unresolved
    shares.push({ backend: 'unresolved' in backend ? null : backend, weight: ref.weight ?? 1 })
  }
  return { routes: [], shares, backends: new Map(), dropped: new Map(), unresolved }
}
