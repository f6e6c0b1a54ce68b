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

/** What one controller says about one parent. */
export interface RouteParentStatus {
  readonly parentRef: ParentRef
  readonly controllerName: string
  readonly conditions?: readonly Condition[]
}
