import { keyOf } from '@spout/connector'
import { GATEWAY_GROUP } from '../names.ts'
import type { Gateway } from '../objects/gateway.ts'
import type { ParentRef } from '../objects/references.ts'
import type { RouteObject } from '../objects/route.ts'
import { kindOf } from '../route-kinds/all.ts'
import { hostsAt } from './hostnames.ts'
import type { JudgedListener } from './listeners.ts'
import { selects } from './selector.ts'
import { type Objection, objection } from './verdict.ts'

/** A route of any kind, as far as attaching to a Gateway goes. */
export interface AttachingRoute {
  readonly kind: string
  readonly namespace: string
  /** Empty: those of the listener. */
  readonly hostnames: readonly string[]
}

export interface AttachedListener {
  readonly judged: JudgedListener
  /** The names that the route has there, in lower case. */
  readonly hosts: readonly string[]
}

export type Labels = Readonly<Record<string, string>>

export const attachingRouteOf = (route: RouteObject): AttachingRoute => ({
  kind: route.kind,
  namespace: route.metadata.namespace ?? '',
  hostnames: kindOf(route).hostnamesOf(route),
})

/** `namespace/name` of the Gateway that a reference names; null when it names something else. */
export function gatewayOf(ref: ParentRef, namespace: string): string | null {
  if ((ref.group ?? GATEWAY_GROUP) !== GATEWAY_GROUP || (ref.kind ?? 'Gateway') !== 'Gateway') return null
  return `${ref.namespace ?? namespace}/${ref.name}`
}

/**
 * The listeners of a Gateway that one of its route's references attaches to.
 * @param labelsOf a namespace's labels; null until it was seen
 */
export function attach(
  route: AttachingRoute,
  ref: ParentRef,
  gateway: Gateway,
  listeners: readonly JudgedListener[],
  labelsOf: (namespace: string) => Labels | null,
): { readonly listeners: readonly AttachedListener[]; readonly refused: Objection | null } {
  const refuse = (reason: string, message: string) => ({ listeners: [], refused: objection(reason, message) })
  const named = listeners.filter(
    ({ listener }) =>
      (ref.sectionName === undefined || listener.name === ref.sectionName) &&
      (ref.port === undefined || listener.port === ref.port),
  )
  if (named.length === 0) return refuse('NoMatchingParent', 'The Gateway has no listener of this sectionName and port.')
  const allowing = named.filter(
    (one) => one.kinds.some(({ kind }) => kind === route.kind) && allowsNamespace(one, route, gateway, labelsOf),
  )
  if (allowing.length === 0)
    return refuse('NotAllowedByListeners', 'allowedRoutes of no listener has its namespace and kind.')
  const attached = allowing.flatMap((judged): readonly AttachedListener[] => {
    const hosts = hostsAt(judged.host, route.hostnames)
    return hosts === null ? [] : [{ judged, hosts }]
  })
  if (attached.length === 0)
    return refuse('NoMatchingListenerHostname', 'None of its hostnames is one of a listener that allows it.')
  return { listeners: attached, refused: null }
}

/** Listeners that the route attaches to through any of its references, with its names there. */
export function listenersOf(
  gateway: Gateway,
  route: RouteObject,
  judged: readonly JudgedListener[],
  labelsOf: (namespace: string) => Labels | null,
): ReadonlyMap<JudgedListener, readonly string[]> {
  const attaching = attachingRouteOf(route)
  const { namespace } = attaching
  const refs = (route.spec.parentRefs ?? []).filter((ref) => gatewayOf(ref, namespace) === keyOf(gateway))
  return new Map(
    refs.flatMap((ref) =>
      attach(attaching, ref, gateway, judged, labelsOf).listeners.map((one) => [one.judged, one.hosts] as const),
    ),
  )
}

function allowsNamespace(
  { listener }: JudgedListener,
  { namespace }: AttachingRoute,
  gateway: Gateway,
  labelsOf: (namespace: string) => Labels | null,
): boolean {
  const { from = 'Same', selector } = listener.allowedRoutes?.namespaces ?? {}
  switch (from) {
    case 'All':
      return true
    case 'Same':
      return namespace === gateway.metadata.namespace
    case 'Selector': {
      const labels = labelsOf(namespace)
      return labels !== null && selects(selector, labels)
    }
    default:
      return false
  }
}
