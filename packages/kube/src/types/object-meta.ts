/** meta/v1 as Kubernetes 1.36 names it, as far as Spout reads or writes it. Times are RFC 3339 texts. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  /** Opaque except for "equal", "resume from here" and, where both are decimal numbers, "newer". */
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  /** Set once somebody asked to delete it; it stays for as long as it has finalizers. */
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

/** What every object has. */
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
