/**
 * The Store contract: a small versioned object store with one change log.
 *
 * Every implementation passes `describeStore` (conformance.ts). Values are JSON documents that the store never looks
 * into; whoever reads one parses it by the model's schema for its kind.
 */

/** Where in the change log something happened. Opaque: only equality and "resume from here" mean anything. */
export type Revision = string & { readonly revision: unique symbol }

/** Identifies an object. `kind` is a key of the model's `KINDS`; `id` at most 128 characters. */
export interface Ref {
  readonly kind: string
  readonly id: string
}

export interface Stored extends Ref {
  /** Revision of the commit that last wrote it. */
  readonly revision: Revision
  /** The owning project, or null: what `list` can narrow by. */
  readonly scope: string | null
  readonly value: unknown
}

/** `ifRevision`: the revision it must still have, or `absent`; left out, whatever is there is replaced. */
export type Write =
  | (Ref & {
      readonly op: 'put'
      readonly value: unknown
      readonly scope: string | null
      readonly ifRevision?: Revision | 'absent'
      /**
       * The value at `ifRevision`, as a watch gave it or as it was put over another one. With it the store takes `value`
       * over: it freezes it, gives it to watches as it is, and writes only what differs where the object is large.
       */
      readonly over?: unknown
    })
  | (Ref & { readonly op: 'delete'; readonly ifRevision?: Revision })

export type Change =
  | { readonly type: 'put'; readonly object: Stored }
  | { readonly type: 'delete'; readonly ref: Ref; readonly scope: string | null; readonly revision: Revision }
  /** Nothing changed up to `revision`: resume from here. Sent at times on a quiet watch, and once caught up. */
  | { readonly type: 'bookmark'; readonly revision: Revision }

export interface ListResult {
  readonly items: readonly Stored[]
  /** The list is exactly the state at this revision: watch from here misses nothing and repeats nothing. */
  readonly revision: Revision
}

export interface WatchOptions {
  /** Only these kinds; all when left out. */
  readonly kinds?: readonly string[]
  /** Changes after this revision. */
  readonly from: Revision
  readonly signal: AbortSignal
}

/** Whether a commit is taken at this moment. Until the store is closed, reads and watches go on either way. */
export interface StoreHealth {
  readonly writable: boolean
  /** Why not, for people; null when writable. */
  readonly reason: string | null
}

export interface Store {
  get(kind: string, id: string): Promise<Stored | null>
  /** All objects of a kind ordered by id, or those of one project. */
  list(kind: string, options?: { readonly scope?: string | null }): Promise<ListResult>
  /**
   * Applies all writes or none, as one entry of the change log (one revision). Durable when it resolves.
   * Concurrent commits may share one disk flush (group commit) but never each other's fate.
   * @throws SpoutError RevisionConflict, AlreadyExists, NotFound (delete or conditional put of what is not there);
   *   StoreUnavailable when the disk refuses: nothing of this commit is stored then, reads go on
   */
  commit(writes: readonly Write[]): Promise<{ readonly revision: Revision }>
  /**
   * Yields every change after `from` in order, none twice. A change may be left out when a later change of the same object
   * follows. Changes of one commit arrive together, in order, all with its revision. Ends when `signal` aborts. A slow
   * reader never delays a writer.
   * @throws SpoutError Gone when `from` is below the compacted floor or unknown
   */
  watch(options: WatchOptions): AsyncIterable<Change>
  /** The newest revision. */
  revision(): Promise<Revision>
  /** Forgets changes up to `revision`: later watches from before it end in `Gone`. */
  compact(revision: Revision): Promise<void>
  /** What a commit would meet now, without a look at the disk: cheap enough to be asked by every readiness probe. */
  health(): StoreHealth
  /** Flushes and releases the lock. Idempotent. */
  close(): Promise<void>
}
