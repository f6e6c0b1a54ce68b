import { stat, truncate } from 'node:fs/promises'
import { type Clock, Mutex } from '@spout/runtime'
import {
  ExitWatch,
  identifyProcess,
  isRunning,
  type Log,
  type NativeHelper,
  type ProcessIdentity,
  Supervisor,
} from '@spout/sys'
import type { Daemons } from './daemons.ts'

/** How often a process is looked at whose end nobody tells. */
const LOOK_EVERY_MS = 150
/** How often both are looked at while their ends are told. */
const TOLD_LOOK_MS = 1_000
/** The mover is replaced at a reload and restarts itself. Its last state counts for this long. */
const MOVER_SILENT_LOOKS = 2
/** After this time the mover is considered dead. */
const MOVER_GONE_LOOKS = 20
const LOG_LIMIT_BYTES = 4 << 20
const TRIM_EVERY_MS = 60_000

export interface KeeperOptions {
  readonly daemons: Daemons
  readonly helper: Pick<NativeHelper, 'awaitExit'>
  readonly log: Log
  readonly clock: Clock
  /** keepalived appends to its log, which is emptied when it grows too large. */
  readonly logFile: string
  /** The mover's process according to its last state; undefined before the first. */
  readonly moverPid: () => number | undefined
  /** Called when keepalived was started, found, or lost. */
  readonly onChange: () => void
}

/** Keeps keepalived running. When it is gone, it is restarted as backup. */
export class Keeper {
  readonly #given: KeeperOptions
  readonly #mutex = new Mutex()
  readonly #supervisor: Supervisor
  readonly #exits: ExitWatch
  #running: ProcessIdentity | null = null
  #trimmedMs = 0
  #looksWithoutMover = 0
  #starts = 0

  constructor(options: KeeperOptions) {
    this.#given = options
    this.#supervisor = new Supervisor({
      name: 'keepalived and the address mover',
      log: options.log,
      clock: options.clock,
      mutex: this.#mutex,
      end: () => this.#end(),
      start: () => this.#start(),
      check: { everyMs: () => this.#pauseMs(), isHealthy: () => this.#isHealthy() },
    })
    this.#exits = new ExitWatch(options.helper, {
      // A mover that ends is often replaced. So its end only has the looks begin that give it time.
      onExit: (pid) => (pid === this.#running?.pid ? this.#supervisor.checkNow() : this.#supervisor.checkLater()),
      onUnknown: () => this.#supervisor.checkLater(),
    })
  }

  get running(): ProcessIdentity | null {
    return this.#running
  }

  /** Whether there is a mover whose state counts. */
  get hasMover(): boolean {
    return this.#running !== null && this.#looksWithoutMover < MOVER_SILENT_LOOKS
  }

  get starts(): number {
    return this.#starts
  }

  /** Adopts a running keepalived and keeps it running from now on. The next check starts it if necessary. */
  adopt(): Promise<void> {
    return this.#mutex.run(async () => {
      this.#running = await this.#given.daemons.find()
      this.#supervisor.watch()
      if (this.#running !== null) this.#given.onChange()
    })
  }

  /** Starts keepalived. @throws Error if it does not start; it is retried from now on */
  ensure(): Promise<void> {
    return this.#mutex.run(async () => {
      try {
        if (this.#running === null) await this.#start()
      } finally {
        this.#supervisor.watch()
      }
    })
  }

  reload(): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#running !== null) await this.#given.daemons.reload(this.#running)
    })
  }

  /** Ends keepalived with SIGTERM. */
  stop(): Promise<void> {
    return this.#mutex.run(() => {
      this.#supervisor.stop()
      return this.#end()
    })
  }

  /** Stops watching keepalived, which continues. */
  async close(): Promise<void> {
    this.#supervisor.close()
    await this.#mutex.idle()
  }

  async #isHealthy(): Promise<boolean> {
    await this.#trimLog()
    if (this.#running === null || !(await isRunning(this.#running))) return false
    const pid = this.#given.moverPid()
    const hasMover = pid !== undefined && (await identifyProcess(pid)) !== null
    this.#exits.follow(hasMover ? [this.#running.pid, pid] : [this.#running.pid])
    const had = this.hasMover
    this.#looksWithoutMover = hasMover ? 0 : this.#looksWithoutMover + 1
    if (had !== this.hasMover) this.#given.onChange()
    return this.#looksWithoutMover < MOVER_GONE_LOOKS
  }

  #pauseMs(): number {
    const [keepalived, mover] = [this.#running?.pid, this.#given.moverPid()]
    return this.#looksWithoutMover === 0 && this.#exits.tells(keepalived) && this.#exits.tells(mover)
      ? TOLD_LOOK_MS
      : LOOK_EVERY_MS
  }

  async #start(): Promise<void> {
    this.#running = await this.#given.daemons.start()
    this.#looksWithoutMover = 0
    this.#starts++
    this.#supervisor.started()
    this.#given.onChange()
  }

  async #end(): Promise<void> {
    this.#running = null
    await this.#given.daemons.end()
    this.#given.onChange()
  }

  /** keepalived appends, so it continues at the new end of a truncated file. */
  async #trimLog(): Promise<void> {
    const nowMs = this.#given.clock.monotonicMs()
    if (nowMs - this.#trimmedMs < TRIM_EVERY_MS) return
    this.#trimmedMs = nowMs
    const { size } = await stat(this.#given.logFile).catch(() => ({ size: 0 }))
    if (size > LOG_LIMIT_BYTES) await truncate(this.#given.logFile).catch(() => undefined)
  }
}
