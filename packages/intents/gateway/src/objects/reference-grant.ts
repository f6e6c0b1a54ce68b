import type { KubeObject } from '@spout/kube'

/** ReferenceGrant of Gateway API v1: which objects of its own namespace may be referred to from other namespaces. */
export interface ReferenceGrant extends KubeObject {
  readonly spec: {
    readonly from: readonly { readonly group: string; readonly kind: string; readonly namespace: string }[]
    /** An entry without a name allows all objects of that kind. */
    readonly to: readonly { readonly group: string; readonly kind: string; readonly name?: string }[]
  }
}
