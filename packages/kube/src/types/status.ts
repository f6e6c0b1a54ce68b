import type { KubeObject } from './object-meta.ts'

/** meta/v1 Status: the body of every refusal, and the object of a watch's ERROR event. */
export interface Status {
  readonly kind?: 'Status'
  readonly status?: 'Success' | 'Failure'
  readonly code?: number
  readonly reason?: string
  readonly message?: string
  readonly details?: {
    readonly name?: string
    readonly kind?: string
    readonly retryAfterSeconds?: number
    readonly causes?: readonly StatusCause[]
  }
}

export interface StatusCause {
  /** JSON path of the field, such as `spec.ports[0].port`. */
  readonly field?: string
  readonly reason?: string
  readonly message?: string
}

/** A page of a list. */
export interface ObjectList<T extends KubeObject> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: readonly T[] | null
}

/** A line of a watch. A bookmark's object has nothing but its resourceVersion. */
export type WatchEvent<T extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: Status }
