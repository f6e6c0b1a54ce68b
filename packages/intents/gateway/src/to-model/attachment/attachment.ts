import type { ParentRef } from '../../objects/references.ts'
import type { RouteObject } from '../../objects/route.ts'
import { kindOf } from '../../route-kinds/all.ts'
import { hostsAt } from '../fields/hostnames.ts'
import { type Objection, objection } from '../fields/objection.ts'
import {
  isFrom,
  type JudgedParents,
  type Labels,
  type ListenerParent,
  parentOf,
} from '../listeners/listener-parents.ts'
import type { JudgedListener } from '../listeners/listeners.ts'

/** The parts of a route that decide whether a listener allows it. */
export interface AttachingRoute {
  readonly kind: string
  readonly namespace: string
  /** Empty: the route takes the host names of the listener. */
  readonly hostnames: readonly string[]
}

export interface AttachedListener {
  readonly judged: JudgedListener
  /** The hosts that the route serves there, in lower case. */
  readonly hosts: readonly string[]
}

export const attachingRouteOf = (route: RouteObject): AttachingRoute => ({
  kind: route.kind,
  namespace: route.metadata.namespace ?? '',
  hostnames: kindOf(route).hostnamesOf(route),
})

/**
 * The listeners to which a route attaches through one of its references, or why there is none.
 * @param parent the parent that the reference names
 * @param labelsOf a namespace's labels; null until it has been seen
 */
export function attach(
  route: AttachingRoute,
  ref: ParentRef,
  parent: ListenerParent,
  labelsOf: (namespace: string) => Labels | null,
): { readonly listeners: readonly AttachedListener[]; readonly refused: Objection | null } {
  const refuse = (reason: string, message: string) => ({ listeners: [], refused: objection(reason, message) })
  const named = parent.listeners.filter(
    ({ listener }) =>
      (ref.sectionName === undefined || listener.name === ref.sectionName) &&
      (ref.port === undefined || listener.port === ref.port),
  )
  if (named.length === 0) {
    // A ListenerSet that its Gateway does not allow has no listeners here. A Gateway may have none of its own.
    const isNotAllowed = parent.kind === 'ListenerSet' && parent.listeners.length === 0
    const why = isNotAllowed ? 'is not allowed by its Gateway' : 'has no listener of this sectionName and port'
    return refuse('NoMatchingParent', `The ${parent.kind} ${why}.`)
  }
  const allowing = named.filter(
    (one) => one.kinds.some(({ kind }) => kind === route.kind) && allowsNamespace(one, route, parent, labelsOf),
  )
  if (allowing.length === 0)
    return refuse('NotAllowedByListeners', 'No listener allows its namespace and kind (allowedRoutes).')
  const attached = allowing.flatMap((judged): readonly AttachedListener[] => {
    const hosts = hostsAt(judged.host, route.hostnames)
    return hosts === null ? [] : [{ judged, hosts }]
  })
  if (attached.length === 0)
    return refuse('NoMatchingListenerHostname', 'None of its hostnames matches a listener that allows it.')
  return { listeners: attached, refused: null }
}

/** The listeners to which a route attaches through any of its references, with the hosts that it serves there. */
export function listenersOf(
  parents: JudgedParents,
  route: RouteObject,
  labelsOf: (namespace: string) => Labels | null,
): ReadonlyMap<JudgedListener, readonly string[]> {
  const attaching = attachingRouteOf(route)
  const { namespace } = attaching
  return new Map(
    (route.spec.parentRefs ?? []).flatMap((ref) => {
      const parent = parentOf(ref, namespace, parents)
      if (parent === undefined) return []
      return attach(attaching, ref, parent, labelsOf).listeners.map((one) => [one.judged, one.hosts] as const)
    }),
  )
}

function allowsNamespace(
  { listener }: JudgedListener,
  { namespace }: AttachingRoute,
  parent: ListenerParent,
  labelsOf: (namespace: string) => Labels | null,
): boolean {
  const { from = 'Same', selector } = listener.allowedRoutes?.namespaces ?? {}
  return isFrom({ from, selector }, namespace, parent.namespace, labelsOf)
}
