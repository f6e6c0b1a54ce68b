import { type Clock, done, failed, type Logger, type Outcome, Reconciler, retryAfter, WorkQueue } from '@spout/runtime'
import { Stale } from '../cluster/object-writes.ts'
import { SHORTLY_MS } from './retries.ts'

const NOT_READY_RETRY_MS = 200
/** The key that is queued at the start, so that the loop begins even without objects. */
const BEGIN = 'begin'

/** A list of the control plane that a watch keeps up to date. */
export interface Followed {
  /** Whether the first list is complete; left out when nothing waits for it. */
  readonly listed?: boolean
  /** Follows the watch until `signal` aborts. */
  follow(signal: AbortSignal): Promise<void>
}

export interface IntentLoopOptions<Kind extends string> {
  readonly name: string
  /** Whether the cluster has been read. */
  readonly isRead: () => boolean
  /** The lists of the project. They must be complete before the first key is reconciled. */
  readonly follows: readonly Followed[]
  /** Reconciles a key, by its kind. @param name the name that was added, such as `namespace/name` */
  readonly looks: Readonly<Record<Kind, (name: string) => Promise<Outcome> | Outcome>>
  /** Runs once, when cluster and project have been read. From then on, what no object names is not needed. */
  readonly begin: () => void
  /** Runs before each key, once cluster and project have been read. */
  readonly beforeEach?: () => void
  /** Keys that are processed concurrently. */
  readonly workers: number
  readonly clock: Clock
  readonly log: Logger
}

/**
 * The queue and the workers of an intent's controller. The queue holds keys, not events: a worker reads both cluster
 * and project and writes the difference. So it may run at any time, and after a restart it finds nothing to do.
 *
 * Nothing is decided before cluster and project have been read. A key is tried again soon when an object has changed
 * since it was read, and with growing pauses after other errors. Namespaces take turns.
 */
export class IntentLoop<Kind extends string> {
  readonly #options: IntentLoopOptions<Kind>
  readonly #queue: WorkQueue
  readonly #reconciler: Reconciler
  readonly #stop = new AbortController()
  #hasBegun = false
  #following: Promise<unknown> | null = null
  #unsubscribe: readonly (() => void)[] = []

  constructor(options: IntentLoopOptions<Kind>) {
    const { name, clock, log, workers } = options
    this.#options = options
    this.#queue = new WorkQueue({ clock })
    this.#reconciler = new Reconciler({
      ...{ name, log, workers, queue: this.#queue },
      reconcile: (key) => this.#reconcile(key),
    })
  }

  /** Whether cluster and project have been read. */
  get ready(): boolean {
    const { isRead, follows } = this.#options
    return isRead() && follows.every(({ listed = true }) => listed)
  }

  /** How many keys are waiting, paused or being reconciled. */
  get size(): number {
    return this.#queue.size
  }

  /** How many keys are ready for a worker. */
  get waiting(): number {
    return this.#queue.waiting
  }

  /** Whether the key waits for its next attempt. */
  isPaused(kind: Kind, name: string): boolean {
    return this.#queue.isPaused(keyOf(kind, name))
  }

  /** Queues a key. @param namespace whose turn it takes; left out: the part of the name before the first slash */
  add(kind: Kind, name: string, namespace = name.split('/', 1)[0] ?? ''): void {
    this.#queue.add(keyOf(kind, name), namespace)
  }

  /** @param unsubscribe called by `stop` */
  start(unsubscribe: readonly (() => void)[]): void {
    this.#unsubscribe = unsubscribe
    this.#following = Promise.all(this.#options.follows.map((one) => one.follow(this.#stop.signal)))
    this.#reconciler.start()
    this.#queue.add(BEGIN)
  }

  /** Stops, and waits for keys that are being reconciled. */
  async stop(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    await this.#reconciler.stop()
    await this.#following
  }

  async #reconcile(key: string): Promise<Outcome> {
    if (!this.ready) return retryAfter(NOT_READY_RETRY_MS)
    this.#beginOnce()
    this.#options.beforeEach?.()
    if (key === BEGIN) return done
    const at = key.indexOf(SEPARATOR)
    try {
      return await this.#options.looks[key.slice(0, at) as Kind](key.slice(at + 1))
    } catch (error) {
      if (error instanceof Stale) return retryAfter(SHORTLY_MS)
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  #beginOnce(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#options.begin()
  }
}

const SEPARATOR = ' '
const keyOf = (kind: string, name: string): string => `${kind}${SEPARATOR}${name}`
