import { stat, truncate } from 'node:fs/promises'
import { type Clock, Mutex } from '@spout/runtime'
import { identifyProcess, isIdInUse, isRunning, type Log, type ProcessIdentity, Supervisor } from '@spout/sys'
import type { Daemons } from './daemons.ts'

/**
 * A peer takes over sooner than this, so checking more often would not shorten an outage. Each check wakes the agent up,
 * and wake-ups are most of what an idle agent costs.
 */
const LOOK_EVERY_MS = 500
/** Between these looks, it suffices that the ids are in use: no other process gets one so soon. */
const LOOKS_PER_IDENTITY = 2
/** The mover is replaced at a reload and restarts itself. Its last state counts for this long. */
const MOVER_SILENT_LOOKS = 2
/** After this time the mover is considered dead. */
const MOVER_GONE_LOOKS = 6
const LOG_LIMIT_BYTES = 4 << 20
const LOOKS_PER_TRIM = 120

export interface KeeperOptions {
  readonly daemons: Daemons
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
  #running: ProcessIdentity | null = null
  #looks = 0
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
      check: { everyMs: LOOK_EVERY_MS, isHealthy: () => this.#isHealthy() },
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
    if (++this.#looks % LOOKS_PER_TRIM === 0) await this.#trimLog()
    const isClose = this.#looks % LOOKS_PER_IDENTITY === 0
    const running = this.#running
    if (running === null || !(isClose ? await isRunning(running) : isIdInUse(running.pid))) return false
    const pid = this.#given.moverPid()
    const hasMover = pid !== undefined && (isClose ? (await identifyProcess(pid)) !== null : isIdInUse(pid))
    const had = this.hasMover
    this.#looksWithoutMover = hasMover ? 0 : this.#looksWithoutMover + 1
    if (had !== this.hasMover) this.#given.onChange()
    return this.#looksWithoutMover < MOVER_GONE_LOOKS
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
    const { size } = await stat(this.#given.logFile).catch(() => ({ size: 0 }))
    if (size > LOG_LIMIT_BYTES) await truncate(this.#given.logFile).catch(() => undefined)
  }
}
