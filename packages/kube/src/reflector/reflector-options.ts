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
   * Reduces an object to the parts that are kept. It must copy them: a part of `raw` that it returns keeps all of its
   * memory. Changes of other parts are not reported.
   */
  readonly trim: (raw: Raw) => T
  readonly indexes?: Readonly<Record<string, IndexFunction<Raw>>>
  /** Keys of objects that an earlier process saw, such as those that have load balancers. They count as seen. */
  readonly knownKeys?: readonly string[]
  /** The UID of kube-system that an earlier process saw; null or left out accepts the first one that is read. */
  readonly knownClusterUid?: string | null
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
  readonly clock?: Clock
  readonly random?: Random
  readonly pageSize?: number
  /** The server is asked to end a watch after this time, plus up to as much again at random. */
  readonly watchSeconds?: number
  /** A watch that has not ended this long after that time counts as dead. */
  readonly graceMs?: number
  /**
   * A watch without a byte for this long counts as dead. Left out: only `graceMs` counts, because the server sends
   * bookmarks at no fixed interval.
   */
  readonly silenceMs?: number
  readonly firstRetryMs?: number
  readonly maxRetryMs?: number
  /**
   * A new list after a 410 waits up to this long, so that the clients of a restarted server do not all list at once.
   */
  readonly relistJitterMs?: number
}

/** Why a list was read. */
export type ListCause =
  | 'first'
  /** 410: the server no longer has our version. */
  | 'gone'
  /** The server's history went back. */
  | 'history'
  /** Events arrived out of order before a break. */
  | 'disorder'
  /** The server refuses a watch from our version, or the watch breaks there repeatedly. */
  | 'unresumable'
  /** The deletion guard is up: the list shows whether the objects are still missing. */
  | 'deletionGuard'
  /** `confirm` was called. */
  | 'confirmed'

/** A copy of the counters since the start, for metrics. */
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
  /** Objects for which `trim` threw. */
  readonly trimFailures: number
  readonly listsByCause: Readonly<Record<ListCause, number>>
}

/** Counters for a new reflector, which changes them in place. */
export const newCounters = () => ({
  lists: 0,
  pages: 0,
  listRestarts: 0,
  watches: 0,
  events: 0,
  bookmarks: 0,
  ignored: 0,
  bytes: 0,
  listsByCause: { first: 0, gone: 0, history: 0, disorder: 0, unresumable: 0, deletionGuard: 0, confirmed: 0 },
})
