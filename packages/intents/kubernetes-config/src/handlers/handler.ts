import type { Condition, KubeObject, ObjectMeta } from '@spout/kube'

/** An object of a kind of ours, as far as all are alike. */
export interface ConfigObject<Spec = object> extends KubeObject {
  readonly metadata: ObjectMeta
  readonly spec: Spec
  readonly status?: ConfigStatus
}

export interface ConfigStatus {
  readonly conditions?: readonly Condition[]
  readonly [field: string]: unknown
}

/** A condition before it is known since when it has been so. */
export type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** What became of an object: fields of its status besides conditions, and verdicts. */
export interface Brought {
  readonly fields: Readonly<Record<string, unknown>>
  readonly verdicts: readonly Verdict[]
  /** Nothing was changed yet: look again once this stands on the object. */
  readonly again?: true
}

/** Brings the control plane to what an object says. Each call reads both and does the difference. */
export interface Handler {
  readonly kind: string
  /** @throws Refused for what cannot be; any other error for what may work later */
  bring(object: ConfigObject): Promise<Brought>
  /** Takes away what was made from the object. @throws Refused while it is in use */
  release(object: ConfigObject): Promise<void>
}

export const READY = 'Ready'
export const isReady = (reason: string, message: string): Verdict => ({ type: READY, status: 'True', reason, message })
export const notReady = (reason: string, message: string): Verdict => ({
  type: READY,
  status: 'False',
  reason,
  message,
})
