import type { Clock, Timer } from '@spout/runtime/clock'
import type { Mutex } from '@spout/runtime/mutex'
import type { Log } from './log.ts'
import { restartPauseMs } from './restart-pause.ts'

export interface SupervisorOptions {
  /** Of the process, for logs. */
  readonly name: string
  readonly log: Log
  readonly clock: Clock
  /** `end` and `start` run in it, so that they never meet what else the owner does with the process. */
  readonly mutex: Mutex
  /** Ends what is left of a lost process, at once; what replaces it may have to wait. */
  readonly end?: () => Promise<void>
  /** Makes the process work again. */
  readonly start: () => Promise<void>
  /** For a process whose end nobody tells: whether it works, asked every so often. It runs beside `mutex`. */
  readonly look?: { readonly everyMs: number; readonly isWhole: () => Promise<boolean> }
}

type State = 'idle' | 'watching' | 'restarting' | 'closed'

/**
 * Keeps a process of this machine working: one that is lost is started again, at once after a life of some length, ever
 * later while lives are short or starts fail. The owner has the process itself: how it is found, started and ended.
 */
export class Supervisor {
  readonly #given: SupervisorOptions
  #state: State = 'idle'
  /** Changes with the state: what was begun before is void. */
  #turn = 0
  #timer: Timer | null = null
  #startedMs = 0
  #pauseMs = 0

  constructor(given: SupervisorOptions) {
    this.#given = given
  }

  /** The owner started the process, or found it running: it is watched. A restart that was due is not done. */
  started(): void {
    if (this.#state === 'closed') return
    this.#startedMs = this.#given.clock.monotonicMs()
    this.#lookLater(this.#enter('watching'))
  }

  /** The process shall run, whether it does or not: the next look tells. */
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

  /** The process need not run any more, until `started` or `watch`. */
  stop(): void {
    if (this.#state !== 'closed') this.#enter('idle')
  }

  /** Leaves the process as it is, for good. */
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
    // What cannot be told is no reason to end a process that may work.
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
