import { Backoff, type Clock, pause, type Random } from '@spout/runtime'
import { KubeError } from '../transport/errors.ts'
import { collectionPath, type KubeObject, objectKey } from '../types/index.ts'
import type { BelievedObjects, Listed } from './believed-objects.ts'
import type { ClusterGuard } from './cluster-guard.ts'
import { type DeletionGuardPolicy, lookAgainMs } from './deletion-guard.ts'
import { breakOf, checkHistory, HistoryWentBack } from './history.ts'
import { listPages, selectionQuery } from './list-pages.ts'
import type { ReflectorLog } from './reflector-log.ts'
import { type ListCause, newCounters, type ReflectorOptions } from './reflector-options.ts'
import { isOlder, newerOf } from './resource-version.ts'
import { watchLife } from './watch-life.ts'
import { WatchSession } from './watch-session.ts'

/** After this many breaks in a row with malformed data at one version, the watch does not resume there any more. */
const MAX_BREAKS_IN_PLACE = 3
/** A watch that ends sooner than this without an event was not served properly: the next one waits. */
const SHORT_WATCH_MS = 1000

export interface ListAndWatchParts<Raw extends KubeObject, T> {
  readonly options: ReflectorOptions<Raw, T>
  readonly clock: Clock
  readonly random: Random
  readonly policy: DeletionGuardPolicy
  /** Where lists and events go. */
  readonly objects: BelievedObjects<Raw, T>
  readonly cluster: ClusterGuard
  readonly log: ReflectorLog
  /** Called when another cluster begins to answer, or ours answers again. */
  readonly onDeletionGuard: () => void
}

/**
 * Reads a list, then watches from its version. After a break it resumes the watch where it was. It reads the list again
 * only for a cause (`ListCause`).
 */
export class ListAndWatch<Raw extends KubeObject, T> {
  readonly counters = newCounters()
  /** Resolves once the first complete list was taken; rejects when closed before. */
  readonly synced: Promise<void>
  readonly #options: ReflectorOptions<Raw, T>
  readonly #clock: Clock
  readonly #random: Random
  readonly #policy: DeletionGuardPolicy
  readonly #objects: BelievedObjects<Raw, T>
  readonly #cluster: ClusterGuard
  readonly #log: ReflectorLog
  readonly #onDeletionGuard: () => void
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  readonly #firstList = Promise.withResolvers<void>()
  #hasSynced = false
  /** Why the next step is a list; null when it is a watch. */
  #listCause: ListCause | null = 'first'
  #session: WatchSession<Raw, T>
  #newest = ''
  /** Whether the list was just read, so that cluster and history need no check. */
  #fresh = false
  #breaksInPlace = 0
  #lastError: Error | null = null
  /** Ends the pause between two steps. */
  #wake = new AbortController()
  #running: Promise<void> | null = null

  constructor(parts: ListAndWatchParts<Raw, T>) {
    this.#options = parts.options
    this.#clock = parts.clock
    this.#random = parts.random
    this.#policy = parts.policy
    this.#objects = parts.objects
    this.#cluster = parts.cluster
    this.#log = parts.log
    this.#onDeletionGuard = parts.onDeletionGuard
    this.#session = new WatchSession(this.#objects, this.counters, '')
    this.#backoff = new Backoff({
      firstMs: parts.options.firstRetryMs ?? 200,
      mostMs: parts.options.maxRetryMs ?? 10_000,
      random: this.#random,
    })
    this.synced = this.#firstList.promise
    this.synced.catch(() => {})
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  /** The newest version that the server has sent in its current history. */
  get newest(): string {
    return this.#newest
  }

  /** The last error; null once the server answers again. */
  get lastError(): Error | null {
    return this.#lastError
  }

  /** Aborted when it is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Ends all requests. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake.abort()
    await this.#running
    this.#firstList.reject(new Error(`${this.#options.resource.kind}: closed before the first list`))
  }

  /** Ends the pause under way, and reads the list next. */
  listNow(cause: ListCause): void {
    this.#listCause = cause
    this.#wake.abort()
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController()
      const waitMs = await this.#step()
      if (waitMs > 0) await pause(this.#clock, waitMs, this.#wake.signal)
    }
  }

  /** One list, or one whole watch. @returns how long to wait before the next step */
  async #step(): Promise<number> {
    try {
      return this.#listCause === null ? await this.#watch() : await this.#list(this.#listCause)
    } catch (error) {
      if (this.#closing.signal.aborted || this.#wake.signal.aborted) return 0
      return this.#failed(error as Error)
    }
  }

  async #list(cause: ListCause): Promise<number> {
    const { transport, pageSize = 250 } = this.#options
    // While another cluster answers, only its UID is read: it is cheaper than a list that would be discarded.
    if (this.#cluster.deletionGuard !== null && !(await this.#isOurCluster())) return lookAgainMs(this.#policy)
    const listed: Listed<T> = new Map()
    let wentBack = cause === 'history'
    const version = await listPages<Raw>({
      transport,
      selection: this.#options,
      pageSize,
      signal: this.#closing.signal,
      counters: this.counters,
      onStart: (begun) => {
        listed.clear()
        wentBack ||= this.#newest !== '' && isOlder(begun, this.#newest)
        // In another history, an object of the same version may have other content.
        if (wentBack || cause === 'confirmed') this.#objects.cache.forgetVersions()
      },
      onObject: (raw) => listed.set(objectKey(raw.metadata), this.#objects.read(raw)),
    })
    this.counters.lists++
    this.counters.listsByCause[cause]++
    // Checked after the list, so that it notices when another cluster answered the list.
    if (!(await this.#isOurCluster())) return lookAgainMs(this.#policy)
    this.#newest = version
    this.#session = new WatchSession(this.#objects, this.counters, version)
    this.#fresh = true
    this.#listCause = null
    this.#progress(version)
    const first = !this.#hasSynced
    this.#hasSynced = true
    this.#objects.takeList(listed, wentBack, cause === 'confirmed')
    if (first) this.#firstList.resolve()
    return 0
  }

  async #watch(): Promise<number> {
    const session = this.#session
    const { transport, resource, namespace, watchSeconds = 300, graceMs = 30_000, silenceMs } = this.#options
    if (!this.#fresh) {
      if (!(await this.#isOurCluster())) return lookAgainMs(this.#policy)
      await checkHistory(transport, this.#options, session.version, this.#closing.signal)
    }
    this.#fresh = false
    const timeoutSeconds = Math.max(1, Math.round(watchSeconds * (1 + this.#random())))
    const life = watchLife({
      clock: this.#clock,
      closing: this.#closing.signal,
      mostMs: timeoutSeconds * 1000 + graceMs,
      lookMs: lookAgainMs(this.#policy),
      shouldLook: () => this.#shouldLookAgain(),
    })
    const startedMs = this.#clock.monotonicMs()
    let lines = 0
    this.counters.watches++
    try {
      const stream = transport.lines({
        path: collectionPath(resource, namespace),
        query: {
          ...selectionQuery(this.#options),
          watch: true,
          resourceVersion: session.version,
          allowWatchBookmarks: true,
          timeoutSeconds,
        },
        signal: life.signal,
        silenceMs: silenceMs ?? timeoutSeconds * 1000 + graceMs,
        onBytes: (bytes) => {
          this.counters.bytes += bytes
        },
      })
      for await (const group of stream)
        for (const line of group) {
          session.take(line)
          this.#progress(session.version)
          lines++
        }
    } finally {
      life.end()
    }
    if (session.disordered) this.#listCause ??= 'disorder'
    return lines === 0 && this.#clock.monotonicMs() - startedMs < SHORT_WATCH_MS ? this.#backoff.next() : 0
  }

  /** Whether to end a working watch and read the list again: so while the deletion guard is up. */
  #shouldLookAgain(): boolean {
    if (this.#objects.deletionGuard === null) return false
    this.#listCause ??= 'deletionGuard'
    this.#wake.abort()
    return true
  }

  async #isOurCluster(): Promise<boolean> {
    const before = this.#cluster.deletionGuard
    const ours = await this.#cluster.isOurs(() => this.#objects.known(), this.#closing.signal)
    if (before?.reason !== this.#cluster.deletionGuard?.reason) this.#onDeletionGuard()
    return ours
  }

  #progress(version: string): void {
    this.#newest = newerOf(this.#newest, version)
    this.#breaksInPlace = 0
    this.#lastError = null
    this.#backoff.reset()
  }

  #failed(error: Error): number {
    this.#lastError = error
    const watching = this.#listCause === null
    const cause = watching ? this.#listCauseOf(error) : null
    if (cause !== null) this.#listCause = cause
    const waitMs =
      cause === 'gone' || cause === 'history'
        ? this.#random() * (this.#options.relistJitterMs ?? 500)
        : this.#backoff.next(error instanceof KubeError ? (error.retryAfterMs ?? 0) : 0)
    // A watch that breaks is nothing unusual.
    const level = this.#backoff.failures > 2 || error instanceof HistoryWentBack ? 'warn' : 'debug'
    this.#log(level, 'reflector-failed', 'a list or watch failed; will try again', {
      reason: error.message,
      waitMs,
      list: this.#listCause,
    })
    return waitMs
  }

  /** Why the watch cannot resume; null when it can. */
  #listCauseOf(error: Error): ListCause | null {
    const found = breakOf(error, this.#session.disordered)
    if (found.list !== null || !found.nonsense) return found.list
    return ++this.#breaksInPlace >= MAX_BREAKS_IN_PLACE ? 'unresumable' : null
  }
}
