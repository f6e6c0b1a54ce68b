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
   * Reduces an object to what is kept. It must build new objects: any part of `raw` that it returns stays in memory.
   * Changes of other parts are not reported.
   */
  readonly trim: (raw: Raw) => T
  readonly indexes?: Readonly<Record<string, IndexFunction<Raw>>>
  /** Keys known from before this process, such as objects that have load balancers. They count as seen. */
  readonly knownKeys?: readonly string[]
  /** The UID of kube-system at that time; null or left out accepts the first one that is seen. */
  readonly knownClusterUid?: string | null
  readonly deletionGuard?: Partial<DeletionGuardPolicy>
  readonly clock?: Clock
  readonly random?: Random
  readonly pageSize?: number
  /** A watch is asked to end after this time to twice this time. */
  readonly watchSeconds?: number
  /** A watch that has not ended this long after that is dead. */
  readonly graceMs?: number
  /**
   * A watch without a byte for this long is dead. Left out, only `graceMs` counts: bookmarks have no fixed interval.
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
  /** The server refuses to watch from there, or the watch breaks there again and again. */
  | 'unresumable'
  /** The deletion guard is up: read again to see whether the objects are still missing. */
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

/** Counters of a reflector that has done nothing yet; its own are changed in place. */
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
