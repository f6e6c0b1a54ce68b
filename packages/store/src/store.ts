/**
 * The Store contract: a small versioned object store with one change log.
 *
 * Every implementation passes `describeStore` (conformance.ts). Values are JSON documents that the store does not
 * interpret. Readers parse them with the model's schema for their kind.
 */

import type { Lease, Leases } from './leases/leases.ts'

/** A position in the change log. Opaque: it can only be compared for equality and watched from. */
export type Revision = string & { readonly revision: unique symbol }

/** Identifies an object. `kind` is a key of the model's `KINDS`; `id` at most 128 characters. */
export interface Ref {
  readonly kind: string
  readonly id: string
}

export interface Stored extends Ref {
  /** Revision of the commit that last wrote it. */
  readonly revision: Revision
  /** The owning project, by which `list` filters; null for none. */
  readonly scope: string | null
  readonly value: unknown
}

/**
 * A write. `ifRevision` is the revision that the object must still have, or `absent`; without it any version is
 * replaced.
 */
export type Write =
  | (Ref & {
      readonly op: 'put'
      readonly value: unknown
      readonly scope: string | null
      readonly ifRevision?: Revision | 'absent'
      /**
       * The value at `ifRevision`, as a watch returned it or as an earlier `put` with `over` wrote it; null for a new
       * object. With it the store takes ownership of `value`: it freezes it, passes it to watches uncopied, and writes
       * only the differences of a large object.
       */
      readonly over?: unknown
    })
  | (Ref & { readonly op: 'delete'; readonly ifRevision?: Revision })

export type Change =
  | { readonly type: 'put'; readonly object: Stored }
  | { readonly type: 'delete'; readonly ref: Ref; readonly scope: string | null; readonly revision: Revision }
  /**
   * All changes up to `revision` were sent: resume from here. Sent now and then on a quiet watch, and once it has
   * caught up.
   */
  | { readonly type: 'bookmark'; readonly revision: Revision }

export interface ListResult {
  readonly items: readonly Stored[]
  /** The list is the exact state at this revision. A watch from here misses nothing and repeats nothing. */
  readonly revision: Revision
}

export interface WatchOptions {
  /** Only these kinds; all when left out. */
  readonly kinds?: readonly string[]
  /**
   * Only objects of this project; all when left out. Changes of other projects' objects cost the watch nearly nothing.
   */
  readonly scope?: string
  /** Changes after this revision. */
  readonly from: Revision
  readonly signal: AbortSignal
}

/** Whether the store accepts commits now. Reads and watches work either way, until the store is closed. */
export interface StoreHealth {
  readonly writable: boolean
  /** Why it does not, for people; null when writable. */
  readonly reason: string | null
}

/** How an engine keeps what is stored, as far as an upgrade and the way back depend on it. */
export interface StoreFormat {
  readonly engine: 'sqlite' | 'postgres' | 'kubernetes'
  /** The version of its schema. */
  readonly version: number
  /** The oldest version whose programs can use it. */
  readonly usableFrom: number
}

export interface CommitOptions {
  /**
   * For long values, which are then frozen, compared and encoded in pieces. Resolves when the next piece may be done.
   */
  readonly turn?: () => Promise<void>
  /**
   * Lets the commits of others go first: this one may wait for as long as a few flushes take, so that theirs find an
   * idle disk, and goes along with a flush of theirs. For a client that writes much while others write, too. Default: it
   * does not wait.
   */
  readonly yields?: boolean
  /** The commit is refused unless this lease is still held when it is stored. */
  readonly lease?: Lease
}

export interface Store {
  readonly leases: Leases
  get(kind: string, id: string): Promise<Stored | null>
  /**
   * The objects of a kind, ordered by id. `scope` limits them to one project, but an engine may read all of the kind for
   * that.
   */
  list(kind: string, options?: { readonly scope?: string | null }): Promise<ListResult>
  /**
   * Applies all writes or none, as one entry of the change log with one revision. It is durable when the promise
   * resolves. Concurrent commits may share a disk flush (group commit), but succeed or fail independently.
   * @throws SpoutError RevisionConflict, AlreadyExists, NotFound (delete or conditional put of an absent object);
   * StoreUnavailable when the disk fails: then nothing of this commit is stored, and reads go on; LeaseLost;
   * StoredUnknown when the store is closed before a server says whether it is stored
   */
  commit(writes: readonly Write[], options?: CommitOptions): Promise<{ readonly revision: Revision }>
  /**
   * Yields every change after `from` in order, each once. A change may be left out when a later change of the same
   * object follows. The changes of a commit arrive together, in order, with its revision. Ends when `signal` aborts. A
   * slow reader never delays a writer.
   * @throws SpoutError Gone when `from` is below the compacted floor or unknown
   */
  watch(options: WatchOptions): AsyncIterable<Change>
  /**
   * The newest revision: at least that of every commit that was acknowledged before the call, by whichever process, as
   * long as a shared store can be reached.
   * @param atLeast when given, any revision from this one on will do, so that a shared store need not be asked
   */
  revision(atLeast?: Revision): Promise<Revision>
  /** Forgets changes up to `revision`. Later watches from before it fail with `Gone`. */
  compact(revision: Revision): Promise<void>
  /** Whether a commit would be accepted now. It does not touch the disk, so every readiness probe may call it. */
  health(): StoreHealth
  /**
   * The format of what is stored now, which a newer program may have raised.
   * @returns null where nothing outlives the process
   */
  format(): Promise<StoreFormat | null>
  /** Flushes and releases the lock. Idempotent. */
  close(): Promise<void>
}
