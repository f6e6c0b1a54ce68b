import { routeOf } from '@spout/connector'
import type { TlsRouteObject } from '../../objects/connection-routes.ts'
import { type Backend, poolNameOf } from '../backends/backends.ts'
import { byHostKind, hostRank } from '../fields/hostnames.ts'
import { type Objection, objection } from '../fields/objection.ts'
import { routeNameOf } from '../fields/route-names.ts'
import { hostConditions } from './matches.ts'
import type { CompiledRules, PlacedRoute, ResolveBackend, RouteListener } from './route-kind.ts'

/** Name of a pool without members: connections that no backend can take are sent to it, and so closed. */
export const CLOSED_POOL = 'closed'

/**
 * Compiles the rule of a TLSRoute for one listener, to a route of the load balancer for each kind of host. The share of
 * a reference that does not resolve is closed.
 * @param hosts the hosts that the route serves there
 */
export function compileNames(
  { spec, metadata }: TlsRouteObject,
  hosts: readonly string[],
  listener: RouteListener,
  resolve: ResolveBackend,
): CompiledRules {
  const { namespace = '', name, uid = '', creationTimestamp: createdAt = '' } = metadata
  const backends = new Map<string, Backend>()
  const weights = new Map<string, number>()
  let unresolved: Objection | null = null
  for (const ref of (spec.rules ?? []).flatMap(({ backendRefs = [] }) => backendRefs)) {
    const found = resolve(ref)
    if ('unresolved' in found) unresolved ??= found.unresolved
    else backends.set(poolNameOf(found), found)
    const pool = 'unresolved' in found ? CLOSED_POOL : poolNameOf(found)
    const { weight = 1 } = ref
    if (weight > 0) weights.set(pool, (weights.get(pool) ?? 0) + weight)
  }
  const pools = [...(weights.size === 0 ? [[CLOSED_POOL, 1] as const] : weights)]
  const routes: PlacedRoute[] = []
  for (const same of byHostKind(hosts)) {
    const [host = ''] = same
    const made = routeOf(
      {
        name: routeNameOf(uid, `${listener.name}/${host}`),
        conditions: hostConditions(same),
        action: { type: 'forward', pools: pools.map(([pool, weight]) => ({ pool, weight })) },
      },
      'hostnames',
    )
    if ('refusal' in made) {
      const dropped = new Map([[0, objection('UnsupportedValue', made.refusal.message)]])
      return { routes: [], backends, dropped, unresolved }
    }
    routes.push({ precedence: [...hostRank(host), createdAt, `${namespace}/${name}`], content: made.value })
  }
  return { routes, backends, dropped: new Map(), unresolved }
}
