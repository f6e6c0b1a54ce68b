import { Listeners, systemClock } from '@spout/runtime'
import type { KubeObject, ObjectName } from '../types/index.ts'
import { BelievedObjects } from './believed-objects.ts'
import { ClusterGuard } from './cluster-guard.ts'
import { DEFAULT_DELETION_GUARD_POLICY, type DeletionGuard } from './deletion-guard.ts'
import { isGone } from './is-gone.ts'
import { ListAndWatch } from './list-and-watch.ts'
import { type ReflectorLog, reflectorLog } from './reflector-log.ts'
import type { ReflectorCounters, ReflectorOptions } from './reflector-options.ts'

/** Deadline for a question about one object; the caller tries again. */
const QUESTION_MS = 10_000

/**
 * Keeps the objects of a resource in memory, like an informer of client-go. It reports keys, not events: the receiver
 * looks the object up and compares. A list is taken only when it is complete, and a missing object counts as deleted
 * only when that is plausible (deletion-guard.ts).
 */
export class Reflector<Raw extends KubeObject, T> {
  /** Resolves once the first complete list has been taken; rejects if the reflector is closed before. */
  readonly synced: Promise<void>
  readonly #options: ReflectorOptions<Raw, T>
  readonly #objects: BelievedObjects<Raw, T>
  readonly #cluster: ClusterGuard
  readonly #loop: ListAndWatch<Raw, T>
  readonly #log: ReflectorLog
  readonly #listeners = new Listeners<string>((error) => this.#threw(error))
  readonly #guardListeners = new Listeners<DeletionGuard | null>((error) => this.#threw(error))

  constructor(options: ReflectorOptions<Raw, T>) {
    const { clock = systemClock, random = Math.random } = options
    const policy = { ...DEFAULT_DELETION_GUARD_POLICY, ...options.deletionGuard }
    this.#options = options
    this.#log = reflectorLog(options)
    this.#objects = new BelievedObjects({
      trim: options.trim,
      indexes: options.indexes ?? {},
      knownKeys: options.knownKeys ?? [],
      policy,
      clock,
      log: options.log,
      onChange: (key) => this.#listeners.tell(key),
      onDeletionGuard: () => this.#tellGuard(),
    })
    this.#cluster = new ClusterGuard(options.transport, clock, options.knownClusterUid ?? null)
    this.#loop = new ListAndWatch({
      options,
      clock,
      random,
      policy,
      objects: this.#objects,
      cluster: this.#cluster,
      log: this.#log,
      onDeletionGuard: () => this.#tellGuard(),
    })
    this.synced = this.#loop.synced
  }

  get hasSynced(): boolean {
    return this.#loop.hasSynced
  }

  get size(): number {
    return this.#objects.cache.size
  }

  get counters(): ReflectorCounters {
    const { listsByCause, ...counters } = this.#loop.counters
    return { ...counters, listsByCause: { ...listsByCause }, trimFailures: this.#objects.trimFailures }
  }

  /** The last error; null once the server answers again. */
  get lastError(): Error | null {
    return this.#loop.lastError
  }

  /**
   * Set while missing objects are kept, else null. An operator should look into it; `confirm` accepts them as deleted.
   */
  get deletionGuard(): DeletionGuard | null {
    return this.#cluster.deletionGuard ?? this.#objects.deletionGuard
  }

  /** The UID of the kube-system namespace; null until it has been read, or when our account may not read it. */
  get clusterUid(): string | null {
    return this.#cluster.uid
  }

  start(): this {
    this.#loop.start()
    return this
  }

  /** Ends all requests. What is in memory can still be read. */
  close(): Promise<void> {
    return this.#loop.close()
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

  /** Whether the object counts as present although it is missing or unreadable. It must not be treated as deleted. */
  isHeld(key: string): boolean {
    return this.#objects.isHeld(key)
  }

  /**
   * Asks the server whether the object with this UID is gone. Needed for objects that this reflector has never shown,
   * which another process may have seen. It costs two small requests.
   *
   * @throws Error when that cannot be decided now: no answer, or one that cannot be trusted (is-gone.ts)
   */
  isGone(object: ObjectName, uid: string): Promise<boolean> {
    return isGone({
      transport: this.#options.transport,
      resource: this.#options.resource,
      object,
      uid,
      newest: this.#loop.newest,
      clusterUid: () => this.clusterUid,
      deletionGuard: () => this.deletionGuard,
      signal: this.#loop.closing,
      deadlineMs: QUESTION_MS,
    })
  }

  /** An operator confirms that the missing objects are deleted, or that the other cluster is the right one now. */
  confirm(): void {
    const guard = this.deletionGuard
    if (guard === null) return
    this.#log('warn', 'deletions-confirmed', 'missing objects count as deleted', { reason: guard.reason })
    if (guard.reason === 'other-cluster') {
      this.#cluster.adopt()
      this.#loop.listNow('confirmed')
    } else this.#objects.confirm()
  }

  #tellGuard(): void {
    const guard = this.deletionGuard
    const fields = { reason: guard?.reason ?? null, held: guard?.heldKeys.size ?? 0, lists: guard?.lists ?? 0 }
    if (guard === null) this.#log('info', 'deletion-guard-lifted', 'no missing object is kept any more', fields)
    else this.#log('error', 'deletions-held', 'objects are missing but kept: they may not be deleted', fields)
    this.#guardListeners.tell(guard)
  }

  #threw(error: unknown): void {
    this.#log('error', 'listener-threw', 'a listener threw; the others were called', { err: error, bug: true })
  }
}
