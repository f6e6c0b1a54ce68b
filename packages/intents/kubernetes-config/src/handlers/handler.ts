import type { ConditionState, CustomObject, CustomStatus } from '@spout/kube'

export type { ConditionState } from '@spout/kube'
export type ConfigObject<Spec = object> = CustomObject<Spec>
export type ConfigStatus = CustomStatus

/** What to write to the status of an object: its fields, and its conditions. */
export interface Brought {
  readonly fields: Readonly<Record<string, unknown>>
  readonly conditions: readonly ConditionState[]
  /** Nothing was changed yet. Write this status first, then call again. */
  readonly again?: true
}

/** Reconciles objects of one kind with the control plane. Each call compares both sides and writes the difference. */
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
