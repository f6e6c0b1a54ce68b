import type { KINDS, Kind } from '@spout/model'
import type { Revision } from '@spout/store'
import type { z } from 'zod'

/** The model's type for a kind. */
export type ObjectOf<K extends Kind> = z.output<(typeof KINDS)[K]>

export interface Versioned<T> {
  readonly value: T
  readonly revision: Revision
}

/** Where a listener, route, pool, member or monitor is. */
export interface ChildRef {
  readonly kind: 'listener' | 'route' | 'pool' | 'member' | 'healthMonitor'
  readonly loadBalancerId: string
  /** The pool of a member or monitor; null for the others. */
  readonly poolId: string | null
}

/**
 * The store in memory, with the indexes that surfaces and controllers need. One watch feeds it. Every surface reads
 * here, so a list parses nothing. After `caughtUp(revision)` it shows at least that revision.
 */
export interface ModelView {
  get<K extends Kind>(kind: K, id: string): Versioned<ObjectOf<K>> | null
  /** Ordered by createdAt, then id. `projectId` limits it to one project's objects. */
  list<K extends Kind>(kind: K, options?: { readonly projectId?: string }): readonly ObjectOf<K>[]
  /** Finds a listener, route, pool, member or monitor by id. */
  child(id: string): ChildRef | null
  /** The address object with this portId. */
  addressByPort(portId: string): ObjectOf<'address'> | null
  caughtUp(revision: Revision): Promise<void>
  /** Called after each commit with the objects that it changed; returns the unsubscribe. */
  onChange(listener: (changed: readonly ChangedObject[]) => void): () => void
}

/** A view of these kinds alone: code that gets it can read nothing else. */
export interface ViewOf<K extends Kind> {
  get<T extends K>(kind: T, id: string): Versioned<ObjectOf<T>> | null
  list<T extends K>(kind: T): readonly ObjectOf<T>[]
}

export interface ChangedObject {
  readonly kind: Kind
  readonly id: string
  /** The project of a deleted object, if it had one. */
  readonly goneFrom?: string
}
