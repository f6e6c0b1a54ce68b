import { Backoff, pause, systemClock } from '@spout/runtime'
import type { StoreRecord } from './record.ts'
import type { Records } from './records.ts'

export interface FollowerOptions {
  readonly records: Records
  /** Another process has written it. */
  readonly onRecord: (record: StoreRecord) => void
  /**
   * The watch has begun. Resolves once everything from before is known.
   * @throws Error: the watch is begun anew, unless `close` was called
   */
  readonly onOpen: () => Promise<void>
}

const FIRST_RETRY_MS = 50
const MOST_RETRY_MS = 1000

/** Follows what other processes write, by a watch that is begun anew whenever it breaks. */
export class Follower {
  readonly #options: FollowerOptions
  readonly #closing = new AbortController()
  /** Of the watch that is under way. */
  #watch = new AbortController()
  /** Why nothing is heard; null when the watch is open and everything from before is known. */
  #trouble: string | null = 'not connected yet'
  #waiting: (() => void)[] = []
  readonly #first = Promise.withResolvers<void>()
  #running: Promise<void> | null = null

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  get trouble(): string | null {
    return this.#trouble
  }

  /** Resolves when the watch is open. @throws what the first attempt failed with */
  start(): Promise<void> {
    this.#running ??= this.#run()
    return this.#first.promise
  }

  /** Begins the watch anew, since something went wrong elsewhere. What it knows is compared with what is stored. */
  restart(reason: string): void {
    this.#trouble = reason
    this.#watch.abort(new Error(reason))
  }

  /** Resolves when the watch is open, or at `close`. */
  async connected(): Promise<void> {
    if (this.#trouble === null || this.#closing.signal.aborted) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  get closed(): boolean {
    return this.#closing.signal.aborted
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#watch.abort()
    this.#first.resolve()
    this.#wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const backoff = new Backoff({ firstMs: FIRST_RETRY_MS, mostMs: MOST_RETRY_MS })
    while (!this.closed) {
      try {
        await this.#follow(() => backoff.reset())
      } catch (error) {
        if (this.closed) return
        this.#first.reject(error)
        this.#trouble = (error as Error).message
        await pause(systemClock, backoff.next(), this.#closing.signal)
      }
    }
  }

  /** Until the server ends the watch, as it does now and then. */
  async #follow(onGood: () => void): Promise<void> {
    const watch = new AbortController()
    this.#watch = watch
    const { records, onRecord, onOpen } = this.#options
    const opened = (): void => {
      onOpen().then(
        () => {
          if (watch.signal.aborted) return
          this.#trouble = null
          onGood()
          this.#first.resolve()
          this.#wake()
        },
        (error: unknown) => watch.abort(error),
      )
    }
    try {
      for await (const record of records.watch(watch.signal, opened)) onRecord(record)
    } catch (error) {
      throw watch.signal.aborted ? watch.signal.reason : error
    }
    if (watch.signal.aborted) throw watch.signal.reason
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
