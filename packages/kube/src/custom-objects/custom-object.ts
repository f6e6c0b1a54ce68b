import type { Condition, KubeObject, ObjectMeta } from '../types/index.ts'

/** An object of one of our custom kinds. */
export interface CustomObject<Spec = object> extends KubeObject {
  readonly metadata: ObjectMeta
  readonly spec: Spec
  readonly status?: CustomStatus
}

export interface CustomStatus {
  readonly conditions?: readonly Condition[]
  readonly [field: string]: unknown
}
