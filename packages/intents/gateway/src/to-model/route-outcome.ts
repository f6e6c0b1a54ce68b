import { keyOf } from '@spout/connector'
import type { Gateway } from '../objects/gateway.ts'
import type { RouteObject } from '../objects/route.ts'
import { kindOf } from '../route-kinds/all.ts'
import type { ParentOutcome } from '../write-back/route-status.ts'
import { attach, attachingRouteOf, gatewayOf } from './attachment.ts'
import { backendResolver } from './backend-resolver.ts'
import type { GatewaySurroundings } from './compile-gateway.ts'
import { judgeListeners } from './listeners.ts'
import { type Objection, objection } from './verdict.ts'

/**
 * What a route's references to our Gateways come to. Pure.
 * @param gatewayAt a Gateway of ours by `namespace/name`
 */
export function routeOutcomes(
  route: RouteObject,
  gatewayAt: (key: string) => Gateway | null,
  surroundings: Pick<GatewaySurroundings, 'labelsOf' | 'service' | 'grants'>,
): readonly ParentOutcome[] {
  const attaching = attachingRouteOf(route)
  const resolve = backendResolver(route, surroundings)
  return (route.spec.parentRefs ?? []).flatMap((ref): readonly ParentOutcome[] => {
    const key = gatewayOf(ref, attaching.namespace)
    const gateway = key === null ? null : gatewayAt(key)
    if (gateway === null || keyOf(gateway) !== key) return []
    const judged = judgeListeners(gateway.spec.listeners ?? [])
    const { listeners, refused } = attach(attaching, ref, gateway, judged, surroundings.labelsOf)
    const [first] = listeners
    const { listener } = first?.judged ?? { listener: { name: '', protocol: 'HTTP', port: 80 } }
    const { routes, dropped, unresolved } = kindOf(route).compile(route, first?.hosts ?? [''], listener, resolve)
    const partly = droppedRules(dropped, routes.length === 0)
    return [{ ref, refused: refused ?? partly.refused, partly: refused === null ? partly.partly : null, unresolved }]
  })
}

function droppedRules(
  dropped: ReadonlyMap<number, Objection>,
  all: boolean,
): { readonly refused: Objection | null; readonly partly: Objection | null } {
  const [first] = dropped.values()
  if (first === undefined) return { refused: null, partly: null }
  if (all) return { refused: first, partly: null }
  const places = [...dropped.keys()].join(', ')
  return { refused: null, partly: objection(first.reason, `Dropped Rule ${places}: ${first.message}`) }
}
