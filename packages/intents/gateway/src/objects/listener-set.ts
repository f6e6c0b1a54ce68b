import type { Condition, KubeObject } from '@spout/kube'
import type { GatewayListener, ListenerStatus } from './gateway.ts'
import type { ObjectRef } from './references.ts'

/** ListenerSet of Gateway API v1.6: further listeners for a Gateway, which may be in another namespace. */
export interface ListenerSet extends KubeObject {
  readonly spec: {
    /** Its Gateway; in its own namespace unless it names one. */
    readonly parentRef: ObjectRef
    readonly listeners: readonly GatewayListener[]
  }
  readonly status?: ListenerSetStatus
}

export interface ListenerSetStatus {
  readonly conditions?: readonly Condition[]
  readonly listeners?: readonly ListenerStatus[]
}
