import { type Clock, Mutex, pause } from '@spout/runtime'
import { type Log, type ProcessIdentity, Supervisor } from '@spout/sys'
import { BirdFiles, type Owner } from './bird-files.ts'
import { type BirdCommand, endBird, killBird, refusalOf, runningBird, startBird } from './bird-process.ts'
import { type ControlReply, isRefusal, replyText } from './control-reply.ts'
import { BirdLost, ControlSocket } from './control-socket.ts'

/** The daemon refused a configuration. The old one stays in force. */
export class BirdRefused extends Error {
  override readonly name = 'BirdRefused'
}

export interface BirdDaemonOptions {
  /** For logs: `bgp`, `bfd`. */
  readonly name: string
  readonly directory: string
  readonly owner: Owner | null
  readonly command: BirdCommand
  /** Whether a restarted daemon announces a graceful restart to its peers. */
  readonly gracefulRestart: boolean
  readonly log: Log
  readonly clock: Clock
}

const RECONFIGURED_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 10

/**
 * A BIRD process that outlives the agent. It is adopted if it runs, reconfigured without touching what did not change,
 * and restarted if it dies.
 */
export class BirdDaemon {
  readonly #options: BirdDaemonOptions
  readonly #files: BirdFiles
  readonly #mutex = new Mutex()
  readonly #supervisor: Supervisor
  #process: ProcessIdentity | null = null
  #socket: ControlSocket | null = null
  #starts = 0
  #reconfigurations = 0

  constructor(options: BirdDaemonOptions) {
    this.#options = options
    this.#files = new BirdFiles(options.directory, options.owner)
    const { name, log, clock } = options
    this.#supervisor = new Supervisor({
      name,
      log,
      clock,
      mutex: this.#mutex,
      end: () => this.#endLost(),
      start: () => this.#start(true),
    })
  }

  get logFile(): string {
    return this.#files.log
  }

  get process(): ProcessIdentity | null {
    return this.#process
  }

  get counters(): { readonly starts: number; readonly reconfigurations: number } {
    return { starts: this.#starts, reconfigurations: this.#reconfigurations }
  }

  /** Adopts the daemon of an earlier agent. @returns whether one runs */
  adopt(): Promise<boolean> {
    return this.#mutex.run(() => this.#adopt())
  }

  /**
   * Runs the daemon with this configuration. Does nothing if it does so already.
   * @throws BirdRefused with its error text; the old configuration stays in force
   */
  configure(text: string): Promise<void> {
    return this.#mutex.run(async () => {
      if (this.#socket === null) await this.#adopt()
      const before = await this.#files.current()
      if (before === text && this.#socket?.open === true) return
      await this.#check(text)
      await this.#files.accept()
      try {
        if (this.#socket?.open === true) await this.#reconfigure()
        // Files without a daemon: it died while no agent ran.
        else await this.#start(before !== null)
      } catch (error) {
        if (before !== null) {
          await this.#files.propose(before)
          await this.#files.accept()
        }
        throw error
      }
    })
  }

  /** @throws BirdLost */
  async command(command: string): Promise<ControlReply> {
    if (this.#socket === null) throw new BirdLost('the daemon does not run')
    return this.#socket.command(command)
  }

  /** Ends the daemon, which notifies its peers. Removes its files. */
  stop(): Promise<void> {
    return this.#mutex.run(async () => {
      this.#supervisor.stop()
      this.#socket?.close()
      this.#socket = null
      const process = this.#process ?? (await runningBird(this.#files))
      // On SIGTERM it closes its sessions with a notification.
      if (process !== null) await endBird(process)
      this.#process = null
      await this.#files.remove()
    })
  }

  /** Releases the daemon, which continues. */
  async close(): Promise<void> {
    this.#supervisor.close()
    await this.#mutex.idle()
    this.#socket?.close()
    this.#socket = null
  }

  async #adopt(): Promise<boolean> {
    if (this.#socket?.open === true) return true
    const process = await runningBird(this.#files)
    if (process === null) return false
    try {
      await this.#attach(process)
      return true
    } catch {
      // The daemon runs but does not answer, and its ports are needed.
      await killBird(process, this.#options.clock)
      return false
    }
  }

  async #check(text: string): Promise<void> {
    const words = await refusalOf(this.#options.command, await this.#files.propose(text))
    if (words === null) return
    await this.#files.discard()
    throw new BirdRefused(`the routing daemon refuses its configuration: ${words}`)
  }

  async #reconfigure(): Promise<void> {
    this.#reconfigurations++
    const reply = await this.command('configure')
    if (isRefusal(reply)) throw new BirdRefused(`the routing daemon refuses its configuration: ${replyText(reply)}`)
    await this.#settled()
  }

  /** Waits until removed and changed sessions are down, which happens in the background. */
  async #settled(): Promise<void> {
    const { clock } = this.#options
    const deadline = clock.monotonicMs() + RECONFIGURED_WITHIN_MS
    while (!replyText(await this.command('show status')).includes('Daemon is up and running')) {
      if (clock.monotonicMs() >= deadline) return
      await pause(clock, LOOK_EVERY_MS)
    }
  }

  async #start(restarted: boolean): Promise<void> {
    const { command, clock, gracefulRestart } = this.#options
    this.#starts++
    await this.#attach(await startBird(command, this.#files, restarted && gracefulRestart, clock))
  }

  async #attach(process: ProcessIdentity): Promise<void> {
    let socket: ControlSocket | null = null
    socket = await ControlSocket.connect(this.#files.controlSocket, () => this.#lost(socket))
    this.#socket = socket
    this.#process = process
    this.#supervisor.started()
    // The daemon may have died before it was watched.
    if (!socket.open) this.#lost(socket)
  }

  /** @param socket null while it is connecting: then `connect` rejects */
  #lost(socket: ControlSocket | null): void {
    if (socket === null || this.#socket !== socket) return
    this.#socket = null
    this.#supervisor.lost({ pid: this.#process?.pid })
  }

  /** A dying process closes its sockets before it is gone. One that still runs no longer answers. */
  async #endLost(): Promise<void> {
    if (this.#process !== null) await killBird(this.#process, this.#options.clock)
  }
}
