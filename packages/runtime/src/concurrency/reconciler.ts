import type { Logger } from '../telemetry/logger.ts'
import type { WorkQueue } from './work-queue.ts'

/** The result of reconciling one key. `failed` carries an expected reason; a thrown error is a bug. */
export type Outcome =
  | { readonly type: 'done' }
  | { readonly type: 'retryAfter'; readonly delayMs: number }
  | { readonly type: 'failed'; readonly reason: string }

export const done: Outcome = { type: 'done' }
export const retryAfter = (delayMs: number): Outcome => ({ type: 'retryAfter', delayMs })
export const failed = (reason: string): Outcome => ({ type: 'failed', reason })

export interface ReconcilerOptions {
  readonly name: string
  readonly queue: WorkQueue
  readonly log: Logger
  /** Compares the wanted state with the actual one and makes the difference go away. Must be idempotent. */
  readonly reconcile: (key: string) => Promise<Outcome> | Outcome
  /** How many keys are reconciled at the same time. */
  readonly workers?: number
}

/** Takes keys from a queue and reconciles them until it is stopped. It catches every error. */
export class Reconciler {
  readonly name: string
  readonly #options: ReconcilerOptions
  #running: Promise<unknown> | null = null

  constructor(options: ReconcilerOptions) {
    this.name = options.name
    this.#options = options
  }

  start(): void {
    const workers = Array.from({ length: this.#options.workers ?? 1 }, () => this.#work())
    this.#running ??= Promise.all(workers)
  }

  /** Closes the queue and waits for the keys in work. */
  async stop(): Promise<void> {
    this.#options.queue.close()
    await this.#running
  }

  async #work(): Promise<void> {
    const { queue } = this.#options
    for (let key = await queue.take(); key !== null; key = await queue.take()) {
      const outcome = await this.#reconcile(key)
      if (outcome.type === 'retryAfter') queue.done(key, { retryAfterMs: outcome.delayMs })
      else queue.done(key, outcome.type === 'done' ? 'ok' : 'failed')
    }
  }

  async #reconcile(key: string): Promise<Outcome> {
    const { log, name, reconcile } = this.#options
    try {
      const outcome = await reconcile(key)
      if (outcome.type === 'failed')
        log.warn(
          { event: 'reconcile-failed', reconciler: name, key, reason: outcome.reason },
          'the object was not reconciled; will try again',
        )
      return outcome
    } catch (error) {
      log.error(
        { event: 'reconcile-threw', reconciler: name, key, err: error, bug: true },
        'the object was not reconciled; will try again',
      )
      return failed('unexpected error')
    }
  }
}
