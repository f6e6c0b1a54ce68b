import type { KINDS, Kind } from '@spout/model'
import type { Revision } from '@spout/store'
import type { z } from 'zod'

/** The model's type of a kind. */
export type ObjectOf<K extends Kind> = z.output<(typeof KINDS)[K]>

export interface Versioned<T> {
  readonly value: T
  readonly revision: Revision
}

/** Where a listener, pool, member or monitor lives. */
export interface ChildRef {
  readonly kind: 'listener' | 'pool' | 'member' | 'healthMonitor'
  readonly loadBalancerId: string
  /** The pool of a member or monitor. */
  readonly poolId: string | null
}

/**
 * The store in memory, with the indexes that surfaces and controllers ask by. Fed by one watch; every surface reads
 * here, so a list costs no parsing. After `caughtUp(revision)` it shows at least that revision.
 */
export interface ModelView {
  get<K extends Kind>(kind: K, id: string): Versioned<ObjectOf<K>> | null
  /** Ordered by createdAt, then id. `projectId` narrows to one project's objects. */
  list<K extends Kind>(kind: K, options?: { readonly projectId?: string }): readonly ObjectOf<K>[]
  /** Where the child with this id is. */
  child(id: string): ChildRef | null
  /** The address object with this portId. */
  addressByPort(portId: string): ObjectOf<'address'> | null
  caughtUp(revision: Revision): Promise<void>
  /** Called after each commit with what it changed; returns the unsubscribe. */
  onChange(listener: (changed: readonly ChangedObject[]) => void): () => void
}

export interface ChangedObject {
  readonly kind: Kind
  readonly id: string
  /** The project of an object that is gone, if it was one's. */
  readonly goneFrom?: string
}
