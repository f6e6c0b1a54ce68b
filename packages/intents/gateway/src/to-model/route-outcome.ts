import { keyOf } from '@spout/connector'
import type { Gateway } from '../objects/gateway.ts'
import type { HttpRouteObject } from '../objects/http-route.ts'
import type { ParentOutcome } from '../write-back/route-status.ts'
import { attach, gatewayOf } from './attachment.ts'
import { resolveBackend } from './backends.ts'
import type { GatewaySurroundings } from './compile-gateway.ts'
import { compileRules } from './http-rules.ts'
import { judgeListeners } from './listeners.ts'
import { type Objection, objection } from './verdict.ts'

/**
 * What an HTTPRoute's references to our Gateways come to. Pure.
 * @param gatewayAt a Gateway of ours by `namespace/name`
 */
export function routeOutcomes(
  route: HttpRouteObject,
  gatewayAt: (key: string) => Gateway | null,
  surroundings: Pick<GatewaySurroundings, 'labelsOf' | 'service' | 'grants'>,
): readonly ParentOutcome[] {
  const { namespace = '' } = route.metadata
  const resolve = (ref: Parameters<typeof resolveBackend>[0]) =>
    resolveBackend(ref, { kind: 'HTTPRoute', namespace }, surroundings)
  return (route.spec.parentRefs ?? []).flatMap((ref): readonly ParentOutcome[] => {
    const key = gatewayOf(ref, namespace)
    const gateway = key === null ? null : gatewayAt(key)
    if (gateway === null || keyOf(gateway) !== key) return []
    const attaching = { kind: 'HTTPRoute', namespace, hostnames: route.spec.hostnames ?? [] }
    const judged = judgeListeners(gateway.spec.listeners ?? [])
    const { listeners, refused } = attach(attaching, ref, gateway, judged, surroundings.labelsOf)
    const [first] = listeners
    const { listener } = first?.judged ?? { listener: { name: '', protocol: 'HTTP', port: 80 } }
    const { dropped, unresolved } = compileRules(route, first?.hosts ?? [''], listener, resolve)
    const partly = droppedRules(dropped, route.spec.rules?.length ?? 1)
    return [{ ref, refused: refused ?? partly.refused, partly: refused === null ? partly.partly : null, unresolved }]
  })
}

function droppedRules(
  dropped: ReadonlyMap<number, Objection>,
  rules: number,
): { readonly refused: Objection | null; readonly partly: Objection | null } {
  const [first] = dropped.values()
  if (first === undefined) return { refused: null, partly: null }
  if (dropped.size === rules) return { refused: first, partly: null }
  const places = [...dropped.keys()].join(', ')
  return { refused: null, partly: objection(first.reason, `Dropped Rule ${places}: ${first.message}`) }
}
