import type { Condition, KubeObject } from '@spout/kube'
import type { ParentRef } from './references.ts'

/** The fields that routes of all kinds have. */
export interface RouteObject extends KubeObject {
  readonly kind: string
  readonly spec: { readonly parentRefs?: readonly ParentRef[] }
  readonly status?: RouteStatus
}

export interface RouteStatus {
  readonly parents: readonly RouteParentStatus[]
}

/** What one controller reports about one parent. */
export interface RouteParentStatus {
  readonly parentRef: ParentRef
  readonly controllerName: string
  readonly conditions?: readonly Condition[]
}

/** An id that is unique among the routes of all kinds: `HTTPRoute/namespace/name`. */
export const routeIdOf = ({ kind, metadata: { namespace, name } }: RouteObject): string =>
  `${kind}/${namespace}/${name}`

/**
 * Sorts the oldest route first, then by `namespace/name`: the API's precedence where only one route can be served. Two
 * routes of different kinds can have the same age and name. Then the kind decides, so that the order is always the
 * same.
 */
export const byAge = (a: RouteObject, b: RouteObject): number =>
  compare(createdAt(a), createdAt(b)) || compare(nameOf(a), nameOf(b)) || compare(a.kind, b.kind)

const createdAt = ({ metadata }: RouteObject): string => metadata.creationTimestamp ?? ''
const nameOf = ({ metadata: { namespace, name } }: RouteObject): string => `${namespace}/${name}`

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
