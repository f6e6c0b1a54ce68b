import type { Clock, Timer } from '@spout/runtime/clock'
import type { Mutex } from '@spout/runtime/mutex'
import type { Log } from './log.ts'
import { restartPauseMs } from './restart-pause.ts'

export interface SupervisorOptions {
  /** Name of the process, for logs. */
  readonly name: string
  readonly log: Log
  readonly clock: Clock
  /** Serializes `end` and `start` with the owner's other operations on the process. */
  readonly mutex: Mutex
  /** Ends the remains of a lost process at once, while the restart may be delayed. */
  readonly end?: () => Promise<void>
  /** Starts the process. */
  readonly start: () => Promise<void>
  /** For a process whose end is not reported: checks periodically whether it works. Runs outside `mutex`. */
  readonly look?: { readonly everyMs: number; readonly isWhole: () => Promise<boolean> }
}

type State = 'idle' | 'watching' | 'restarting' | 'closed'

/**
 * Keeps a process of this machine running. A lost process is restarted, at once after a long lifetime, and with a
 * growing delay while lifetimes are short or starts fail. The owner finds, starts and ends the process.
 */
export class Supervisor {
  readonly #given: SupervisorOptions
  #state: State = 'idle'
  /** Changes with the state, which cancels what was begun before. */
  #turn = 0
  #timer: Timer | null = null
  #startedMs = 0
  #pauseMs = 0

  constructor(given: SupervisorOptions) {
    this.#given = given
  }

  /** The owner started or found the process: watches it. Cancels a pending restart. */
  started(): void {
    if (this.#state === 'closed') return
    this.#startedMs = this.#given.clock.monotonicMs()
    this.#lookLater(this.#enter('watching'))
  }

  /** The process should run. The next check tells whether it does. */
  watch(): void {
    if (this.#state === 'idle') this.started()
  }

  /**
   * The process is gone, or does not work. Changes nothing unless it is watched.
   * @param why for the log
   */
  lost(why: object = {}): void {
    if (this.#state === 'watching') this.#restart(this.#given.clock.monotonicMs() - this.#startedMs, why)
  }

  /** The process may end, until `started` or `watch`. */
  stop(): void {
    if (this.#state !== 'closed') this.#enter('idle')
  }

  /** Leaves the process as it is. */
  close(): void {
    this.#enter('closed')
  }

  #enter(state: State): number {
    this.#timer?.clear()
    this.#timer = null
    this.#state = state
    return ++this.#turn
  }

  #lookLater(turn: number): void {
    const { clock, look } = this.#given
    if (look !== undefined) this.#timer = clock.setTimer(() => void this.#look(turn, look.isWhole), look.everyMs)
  }

  async #look(turn: number, isWhole: () => Promise<boolean>): Promise<void> {
    const { log, name } = this.#given
    // A failed check is no reason to end a process that may work.
    const whole = await isWhole().catch((error: unknown) => {
      log.warn({ process: name, error: String(error) }, 'whether a process works cannot be told')
      return true
    })
    if (turn !== this.#turn) return
    if (whole) this.#lookLater(turn)
    else this.lost()
  }

  #restart(livedMs: number, why: object): void {
    const { log, name, clock, end } = this.#given
    this.#pauseMs = restartPauseMs(this.#pauseMs, livedMs)
    log.warn({ process: name, pauseMs: this.#pauseMs, ...why }, 'process lost')
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
