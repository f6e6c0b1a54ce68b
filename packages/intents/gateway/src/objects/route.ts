import type { Condition, KubeObject } from '@spout/kube'
import type { ParentRef } from './references.ts'

/** A route of any kind: what all kinds have. */
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

/** Tells routes of all kinds apart: `HTTPRoute/namespace/name`. */
export const routeIdOf = ({ kind, metadata: { namespace, name } }: RouteObject): string =>
  `${kind}/${namespace}/${name}`

/**
 * Sorts the oldest first, then by `namespace/name`, as the API asks where only one can be served. Routes of two kinds
 * can have one name and one age; then the kind decides, so that every reader decides alike.
 */
export const byAge = (a: RouteObject, b: RouteObject): number =>
  compare(createdAt(a), createdAt(b)) || compare(nameOf(a), nameOf(b)) || compare(a.kind, b.kind)

const createdAt = ({ metadata }: RouteObject): string => metadata.creationTimestamp ?? ''
const nameOf = ({ metadata: { namespace, name } }: RouteObject): string => `${namespace}/${name}`

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
