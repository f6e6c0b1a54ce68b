import type { Clock, Logger, Random } from '@spout/runtime'
import type { Transport } from '../transport/transport.ts'
import type { KubeObject } from '../types/index.ts'
import type { DeletionGuardPolicy } from './deletion-guard.ts'
import type { IndexFunction } from './indexes.ts'
import type { Selection } from './list-pages.ts'

export interface ReflectorOptions<Raw extends KubeObject, T> extends Selection<Raw> {
  readonly transport: Transport
  readonly log: Logger
  /**
   * What is kept of an object. Must build its own objects: whatever it hands on of `raw` stays in memory. Changes outside
   * of it are not told.
   */
  readonly trim: (raw: Raw) => T
  readonly indexes?: Readonly<Record<string, IndexFunction<Raw>>>
  /** Keys that somebody knew before this process started, such as what was made for them. They count as seen before. */
  readonly knownKeys?: readonly string[]
  /** The UID of kube-system when those were known; null or left out takes the first that is seen. */
  readonly knownClusterUid?: string | null
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
  readonly clock?: Clock
  readonly random?: Random
  readonly pageSize?: number
  /** A watch is asked to end after this and up to twice this. */
  readonly watchSeconds?: number
  /** A watch that has not ended so long after it was asked to is dead. */
  readonly graceMs?: number
  /** A watch without a byte for so long is dead; left out, only `graceMs` counts, as bookmarks come at no sure interval. */
  readonly silenceMs?: number
  readonly firstRetryMs?: number
  readonly maxRetryMs?: number
  /** A new list after a 410 waits for up to this, so that all clients of a restarted server do not list at once. */
  readonly relistJitterMs?: number
}

/** Why a list was read. */
export type ListCause =
  | 'first'
  /** 410: the server forgot where we were. */
  | 'gone'
  /** The server's history went back. */
  | 'history'
  /** Events arrived out of order before a break. */
  | 'disorder'
  /** The server will not watch from there, or breaks where we are again and again. */
  | 'unresumable'
  /** The deletion guard is up: read again to see whether the objects are still missing. */
  | 'deletionGuard'
  /** `confirm` was called. */
  | 'confirmed'

/** Counters since the start, for metrics; a copy. */
export interface ReflectorCounters {
  /** Complete lists. */
  readonly lists: number
  readonly pages: number
  readonly listRestarts: number
  readonly watches: number
  readonly events: number
  readonly bookmarks: number
  readonly ignored: number
  readonly bytes: number
  /** Objects that `trim` threw at. */
  readonly trimFailures: number
  readonly listsByCause: Readonly<Record<ListCause, number>>
}
