/** meta/v1 of Kubernetes 1.36, with the fields that Spout reads or writes. Times are RFC 3339 strings. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  /**
   * Opaque, except that versions can be compared for equality, resumed from and, if both are decimal numbers, ordered.
   */
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  /** Set when deletion was requested; the object stays while it has finalizers. */
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly OwnerReference[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** Fields of every object. */
export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

/** core/v1 ObjectReference. */
export interface ObjectReference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** meta/v1 Condition. */
export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly observedGeneration?: number
  readonly lastTransitionTime: string
  /** CamelCase, not empty. */
  readonly reason: string
  readonly message: string
}
