import type { Clock, Timer } from '@spout/runtime/clock'
import type { Mutex } from '@spout/runtime/mutex'
import type { Log } from './log.ts'
import { restartPauseMs } from './restart-pause.ts'

export interface SupervisorOptions {
  /** Name of the process in logs. */
  readonly name: string
  readonly log: Log
  readonly clock: Clock
  /** `end` and `start` run in it, so that they do not overlap with other work of the owner on the process. */
  readonly mutex: Mutex
  /** Ends what is left of a lost process. Called at once, before the back-off. */
  readonly end?: () => Promise<void>
  /** Starts the process. */
  readonly start: () => Promise<void>
  /** Periodic health check, for a process whose end causes no event. It runs outside of `mutex`. */
  readonly check?: { readonly everyMs: number; readonly isHealthy: () => Promise<boolean> }
}

type State = 'idle' | 'watching' | 'restarting' | 'closed'

/**
 * Restarts a process that dies or stops working. The back-off is zero after a lifetime of a second, and grows while
 * lifetimes are shorter or starts fail. The supervisor does not know the process itself: its owner finds, starts and
 * ends it.
 */
export class Supervisor {
  readonly #given: SupervisorOptions
  #state: State = 'idle'
  /** Incremented with each change of state. Work that began in an earlier one is dropped. */
  #turn = 0
  #timer: Timer | null = null
  #startedMs = 0
  #pauseMs = 0

  constructor(given: SupervisorOptions) {
    this.#given = given
  }

  /** The owner started the process, or found it running. Watches it, and cancels a pending restart. */
  started(): void {
    if (this.#state === 'closed') return
    this.#startedMs = this.#given.clock.monotonicMs()
    this.#checkLater(this.#enter('watching'))
  }

  /** The process should run. If it does not, the next check restarts it. */
  watch(): void {
    if (this.#state === 'idle') this.started()
  }

  /**
   * The process died, or does not work. Ignored unless it is watched.
   * @param why fields for the log
   */
  lost(why: object = {}): void {
    if (this.#state === 'watching') this.#restart(this.#given.clock.monotonicMs() - this.#startedMs, why)
  }

  /** Stops watching, until `started` or `watch`. */
  stop(): void {
    if (this.#state !== 'closed') this.#enter('idle')
  }

  /** Stops watching for good. The process continues. */
  close(): void {
    this.#enter('closed')
  }

  #enter(state: State): number {
    this.#timer?.clear()
    this.#timer = null
    this.#state = state
    return ++this.#turn
  }

  #checkLater(turn: number): void {
    const { clock, check } = this.#given
    if (check !== undefined) this.#timer = clock.setTimer(() => void this.#check(turn, check.isHealthy), check.everyMs)
  }

  async #check(turn: number, isHealthy: () => Promise<boolean>): Promise<void> {
    const { log, name } = this.#given
    // A failed check is no reason to end a process that may work.
    const healthy = await isHealthy().catch((error: unknown) => {
      log.warn({ process: name, error: String(error) }, 'the process cannot be checked')
      return true
    })
    if (turn !== this.#turn) return
    if (healthy) this.#checkLater(turn)
    else this.lost()
  }

  #restart(livedMs: number, why: object): void {
    const { log, name, clock, end } = this.#given
    this.#pauseMs = restartPauseMs(this.#pauseMs, livedMs)
    log.warn({ process: name, pauseMs: this.#pauseMs, ...why }, 'the process died or does not work; restarting it')
    const turn = this.#enter('restarting')
    const startLater = () => {
      if (turn === this.#turn) this.#timer = clock.setTimer(() => void this.#start(turn), this.#pauseMs)
    }
    if (end === undefined) startLater()
    else void this.#inTurn(turn, end).then(startLater, (error: unknown) => this.#failed(turn, error))
  }

  async #start(turn: number): Promise<void> {
    try {
      await this.#inTurn(turn, this.#given.start)
      if (turn === this.#turn) this.started()
    } catch (error) {
      this.#failed(turn, error)
    }
  }

  #failed(turn: number, error: unknown): void {
    if (turn === this.#turn) this.#restart(0, { error: String(error) })
  }

  #inTurn(turn: number, task: () => Promise<void>): Promise<void> {
    return this.#given.mutex.run(async () => {
      if (turn === this.#turn) await task()
    })
  }
}
