import type { Condition, KubeObject } from '@spout/kube'
import type { GatewayListener, ListenerStatus } from './gateway.ts'
import type { ObjectRef } from './references.ts'

/** ListenerSet of Gateway API v1.6: more listeners of a Gateway, which may be of another namespace. */
export interface ListenerSet extends KubeObject {
  readonly spec: {
    /** By default a Gateway of its namespace. */
    readonly parentRef: ObjectRef
    readonly listeners: readonly GatewayListener[]
  }
  readonly status?: ListenerSetStatus
}

export interface ListenerSetStatus {
  readonly conditions?: readonly Condition[]
  readonly listeners?: readonly ListenerStatus[]
}
