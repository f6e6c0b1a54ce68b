import { Backoff, type Clock, pause, type Random, systemClock } from '@spout/runtime'
import { KubeError } from '../transport/errors.ts'
import { collectionPath, type KubeObject, type ObjectName, objectKey } from '../types/index.ts'
import { BelievedObjects, type Listed } from './believed-objects.ts'
import { ClusterGuard } from './cluster-guard.ts'
import {
  DEFAULT_DELETION_GUARD_POLICY,
  type DeletionGuard,
  type DeletionGuardPolicy,
  lookAgainMs,
} from './deletion-guard.ts'
import { breakOf, checkHistory, HistoryWentBack } from './history.ts'
import { isGone } from './is-gone.ts'
import { listPages, selectionQuery } from './list-pages.ts'
import { Listeners } from './listeners.ts'
import type { ListCause, ReflectorCounters, ReflectorOptions } from './reflector-options.ts'
import { isOlder, newerOf } from './resource-version.ts'
import { watchLife } from './watch-life.ts'
import { WatchSession } from './watch-session.ts'

/** How often in a row a watch may break at one version with malformed data before that version is given up. */
const MAX_BREAKS_IN_PLACE = 3
/** A watch that ends sooner without an event comes from a server that cannot serve it now. */
const SHORT_WATCH_MS = 1000
/** Deadline for a question about one object; the caller tries again. */
const QUESTION_MS = 10_000

/**
 * Keeps a resource's objects in memory as the server has them. Reports keys, not events: the receiver looks the object
 * up and compares. A list is taken only when it is complete, and a missing object counts as deleted only when that is
 * plausible (deletion-guard.ts).
 */
export class Reflector<Raw extends KubeObject, T> {
  /** Resolves once the first complete list was taken; rejects when closed before. */
  readonly synced: Promise<void>
  readonly #options: ReflectorOptions<Raw, T>
  readonly #clock: Clock
  readonly #random: Random
  readonly #policy: DeletionGuardPolicy
  readonly #objects: BelievedObjects<Raw, T>
  readonly #cluster: ClusterGuard
  readonly #backoff: Backoff
  readonly #closing = new AbortController()
  readonly #listeners = new Listeners<string>((error) => this.#threw(error))
  readonly #guardListeners = new Listeners<DeletionGuard | null>((error) => this.#threw(error))
  readonly #counters = {
    lists: 0,
    pages: 0,
    listRestarts: 0,
    watches: 0,
    events: 0,
    bookmarks: 0,
    ignored: 0,
    bytes: 0,
    listsByCause: { first: 0, gone: 0, history: 0, disorder: 0, unresumable: 0, deletionGuard: 0, confirmed: 0 },
  }
  readonly #firstList = Promise.withResolvers<void>()
  #hasSynced = false
  /** Why the next step is a list; null when it is a watch. */
  #listCause: ListCause | null = 'first'
  #session: WatchSession<Raw, T>
  /** The newest version that the server has sent in its current history. */
  #newest = ''
  /** The list was just read: cluster and history need no check. */
  #fresh = false
  #breaksInPlace = 0
  #lastError: Error | null = null
  /** Ends the pause between two steps. */
  #wake = new AbortController()
  #running: Promise<void> | null = null

  constructor(options: ReflectorOptions<Raw, T>) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#policy = { ...DEFAULT_DELETION_GUARD_POLICY, ...options.deletionGuard }
    this.#objects = new BelievedObjects({
      trim: options.trim,
      indexes: options.indexes ?? {},
      knownKeys: options.knownKeys ?? [],
      policy: this.#policy,
      clock: this.#clock,
      log: options.log,
      onChange: (key) => this.#listeners.tell(key),
      onDeletionGuard: () => this.#tellGuard(),
    })
    this.#session = new WatchSession(this.#objects, this.#counters, '')
    this.#cluster = new ClusterGuard(options.transport, this.#clock, options.knownClusterUid ?? null)
    this.#backoff = new Backoff({
      firstMs: options.firstRetryMs ?? 200,
      mostMs: options.maxRetryMs ?? 10_000,
      random: this.#random,
    })
    this.synced = this.#firstList.promise
    this.synced.catch(() => {})
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get size(): number {
    return this.#objects.cache.size
  }

  get counters(): ReflectorCounters {
    return {
      ...this.#counters,
      listsByCause: { ...this.#counters.listsByCause },
      trimFailures: this.#objects.trimFailures,
    }
  }

  /** The last error; null once the server answers again. */
  get lastError(): Error | null {
    return this.#lastError
  }

  /** Set while missing objects are kept, else null. An operator should look: `confirm` accepts them as deleted. */
  get deletionGuard(): DeletionGuard | null {
    return this.#cluster.deletionGuard ?? this.#objects.deletionGuard
  }

  /** The UID of the kube-system namespace; null until it was read, or when our account may not read it. */
  get clusterUid(): string | null {
    return this.#cluster.uid
  }

  start(): this {
    this.#running ??= this.#run()
    return this
  }

  /** Ends all requests. What is in memory can still be read. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#wake.abort()
    await this.#running
    this.#firstList.reject(new Error(`${this.#options.resource.kind}: closed before the first list`))
  }

  /** Called when the object of a key may have changed, and for each object of the first list. */
  onChange(listener: (key: string) => void): () => void {
    return this.#listeners.add(listener)
  }

  onDeletionGuard(listener: (guard: DeletionGuard | null) => void): () => void {
    return this.#guardListeners.add(listener)
  }

  get(key: string): T | undefined {
    return this.#objects.cache.get(key)?.value
  }

  /** UID and version of the object as last seen. */
  identity(key: string): { readonly uid: string; readonly resourceVersion: string } | undefined {
    return this.#objects.cache.get(key)
  }

  *list(): IterableIterator<readonly [key: string, value: T]> {
    for (const [key, { value }] of this.#objects.cache.entries()) yield [key, value]
  }

  /** @throws Error when there is no such index */
  keysBy(index: string, value: string): readonly string[] {
    return this.#objects.cache.keysBy(index, value)
  }

  /** Whether the key counts as present although its object is not visible: it must not be treated as deleted. */
  isHeld(key: string): boolean {
    return this.#objects.isHeld(key)
  }

  /**
   * Asks the server whether the object of this UID is gone. For objects that this reflector has never shown, because
   * another process may have seen them. Two small requests.
   *
   * @throws Error when that cannot be decided now: no answer, or one that cannot be trusted (is-gone.ts)
   */
  isGone(object: ObjectName, uid: string): Promise<boolean> {
    return isGone({
      transport: this.#options.transport,
      resource: this.#options.resource,
      object,
      uid,
      newest: this.#newest,
      clusterUid: () => this.clusterUid,
      deletionGuard: () => this.deletionGuard,
      signal: this.#closing.signal,
      deadlineMs: QUESTION_MS,
    })
  }

  /** An operator confirms that missing objects are deleted, or that this is the right cluster now. */
  confirm(): void {
    const guard = this.deletionGuard
    if (guard === null) return
    this.#log('warn', 'deletions-confirmed', 'missing objects count as deleted', { reason: guard.reason })
    if (guard.reason === 'other-cluster') {
      this.#cluster.adopt()
      this.#listCause = 'confirmed'
      this.#wake.abort()
    } else this.#objects.confirm()
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
    // Do not list another cluster; reading its UID is cheaper.
    if (this.#cluster.deletionGuard !== null && !(await this.#isOurCluster())) return lookAgainMs(this.#policy)
    const listed: Listed<T> = new Map()
    let wentBack = cause === 'history'
    const version = await listPages<Raw>({
      transport,
      selection: this.#options,
      pageSize,
      signal: this.#closing.signal,
      counters: this.#counters,
      onStart: (begun) => {
        listed.clear()
        wentBack ||= this.#newest !== '' && isOlder(begun, this.#newest)
        // In another history the same version may mean another state.
        if (wentBack || cause === 'confirmed') this.#objects.cache.forgetVersions()
      },
      onObject: (raw) => listed.set(objectKey(raw.metadata), this.#objects.read(raw)),
    })
    this.#counters.lists++
    this.#counters.listsByCause[cause]++
    // Checked after the list, so that it would notice another server having answered.
    if (!(await this.#isOurCluster())) return lookAgainMs(this.#policy)
    this.#newest = version
    this.#session = new WatchSession(this.#objects, this.#counters, version)
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
    this.#counters.watches++
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
          this.#counters.bytes += bytes
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

  /** While the deletion guard is up, the list is read again now and then, though the watch is well. */
  #shouldLookAgain(): boolean {
    if (this.#objects.deletionGuard === null) return false
    this.#listCause ??= 'deletionGuard'
    this.#wake.abort()
    return true
  }

  async #isOurCluster(): Promise<boolean> {
    const before = this.#cluster.deletionGuard
    const ours = await this.#cluster.isOurs(() => this.#objects.known(), this.#closing.signal)
    if (before?.reason !== this.#cluster.deletionGuard?.reason) this.#tellGuard()
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
    // Watches break now and then.
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

  #tellGuard(): void {
    const guard = this.deletionGuard
    const fields = { reason: guard?.reason ?? null, held: guard?.heldKeys.size ?? 0, lists: guard?.lists ?? 0 }
    if (guard === null) this.#log('info', 'deletion-guard-lifted', 'no missing object is kept any more', fields)
    else this.#log('error', 'deletions-held', 'objects are missing but kept: they may not be deleted', fields)
    this.#guardListeners.tell(guard)
  }

  #threw(error: unknown): void {
    this.#log('error', 'listener-threw', 'went on', { err: error, bug: true })
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', event: string, text: string, fields: object): void {
    const { log, resource, namespace } = this.#options
    log[level]({ event, kind: resource.kind, ...(namespace === undefined ? {} : { namespace }), ...fields }, text)
  }
}
