import type { Condition, KubeObject, ObjectMeta } from '@spout/kube'

/** The fields that all objects of our kinds share. */
export interface ConfigObject<Spec = object> extends KubeObject {
  readonly metadata: ObjectMeta
  readonly spec: Spec
  readonly status?: ConfigStatus
}

export interface ConfigStatus {
  readonly conditions?: readonly Condition[]
  readonly [field: string]: unknown
}

/** A condition without its times. */
export type ConditionState = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** The result for an object: fields of its status, and its conditions. */
export interface Brought {
  readonly fields: Readonly<Record<string, unknown>>
  readonly conditions: readonly ConditionState[]
  /** Nothing was changed yet: call again once this status is written. */
  readonly again?: true
}

/** Reconciles one kind with the control plane. Each call reads both sides and writes the difference. */
export interface Handler {
  /** @throws Refused when the request is refused; other errors when a later attempt may work */
  bring(object: ConfigObject): Promise<Brought>
  /** Deletes what was created from the object. @throws Refused while it is in use */
  release(object: ConfigObject): Promise<void>
}

export const READY = 'Ready'
export const isReady = (reason: string, message: string): ConditionState => ({
  type: READY,
  status: 'True',
  reason,
  message,
})
export const notReady = (reason: string, message: string): ConditionState => ({
  type: READY,
  status: 'False',
  reason,
  message,
})
