import { type Clock, systemClock } from '../clock/clock.ts'
import type { Logger } from '../telemetry/logger.ts'

/** A part of a process that is started once and stopped once. */
export interface Component {
  readonly name: string
  start(): Promise<void> | void
  stop(): Promise<void> | void
}

export interface LifecycleOptions {
  readonly log: Logger
  readonly clock?: Clock
  /**
   * How long stopping may take in total. Components that have not stopped by then are named in the log and abandoned.
   */
  readonly stopDeadlineMs?: number
}

/** Starts components in the order they were added and stops them in reverse. */
export class Lifecycle {
  readonly #log: Logger
  readonly #clock: Clock
  readonly #stopDeadlineMs: number
  readonly #components: Component[] = []
  readonly #started: Component[] = []
  #stopping: Promise<void> | null = null

  constructor(options: LifecycleOptions) {
    this.#log = options.log
    this.#clock = options.clock ?? systemClock
    this.#stopDeadlineMs = options.stopDeadlineMs ?? 10_000
  }

  add(component: Component): this {
    this.#components.push(component)
    return this
  }

  /** @throws the error of the component that failed, after the started ones were stopped */
  async start(): Promise<void> {
    for (const component of this.#components) {
      if (this.#stopping !== null) return
      try {
        await component.start()
      } catch (error) {
        this.#log.error({ event: 'start-failed', component: component.name, err: error }, 'component did not start')
        await this.stop()
        throw error
      }
      this.#started.push(component)
      this.#log.debug({ event: 'started', component: component.name }, 'component started')
    }
  }

  /** Idempotent; a second call waits for the first. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll()
    return this.#stopping
  }

  async #stopAll(): Promise<void> {
    const deadline = this.#clock.monotonicMs() + this.#stopDeadlineMs
    for (const component of this.#started.reverse()) {
      const outcome = await this.#stopOne(component, Math.max(0, deadline - this.#clock.monotonicMs()))
      if (outcome === 'late')
        this.#log.warn({ event: 'stop-late', component: component.name }, 'component did not stop in time')
    }
  }

  #stopOne(component: Component, waitMs: number): Promise<'stopped' | 'late'> {
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(() => resolve('late'), waitMs)
      const stop = async () => {
        try {
          await component.stop()
        } catch (error) {
          this.#log.error({ event: 'stop-failed', component: component.name, err: error }, 'component failed to stop')
        }
        timer.clear()
        resolve('stopped')
      }
      void stop()
    })
  }
}
