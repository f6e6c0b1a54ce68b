import { constants } from 'node:fs'
import { access, readFile, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  endProcess,
  execOk,
  findProcesses,
  isRunning,
  type ProcessIdentity,
  signalProcess,
  startDaemon,
} from '@spout/sys'
import { realTimeWords } from './real-time.ts'
import type { StateFeed } from './state-feed.ts'
import type { VrrpFiles } from './vrrp-files.ts'

export interface DaemonPaths {
  readonly keepalived: string
  readonly mover: string
}

const READY_WITHIN_MS = 5_000
const READY_LOOK_MS = 200
const LAST_LINES = 5
/** keepalived gives the mover a second to end. */
const STOP_WITHIN_MS = 3_000

/**
 * Starts, finds and ends keepalived, which starts the address mover as its notify FIFO script. Both outlive the agent.
 * keepalived is its parent process here, which restarts the child that speaks VRRP.
 */
export class Daemons {
  readonly #files: VrrpFiles
  readonly #paths: DaemonPaths
  readonly #netns: string | undefined
  readonly #feed: StateFeed
  #realTime: readonly string[] | null = null

  /** @param netns path of the namespace that faces the fabric; absent for this process's own */
  constructor(files: VrrpFiles, paths: DaemonPaths, netns: string | undefined, feed: StateFeed) {
    this.#files = files
    this.#paths = paths
    this.#netns = netns
    this.#feed = feed
  }

  /** The keepalived process that runs on our configuration; null if none does. */
  async find(): Promise<ProcessIdentity | null> {
    const parent = Number(await readFile(this.#files.keepalivedPid, 'utf8').catch(() => ''))
    return (await this.#processes()).find(({ pid }) => pid === parent) ?? null
  }

  /** The configuration and the table must exist. @throws Error with the error text of the process that did not start */
  async start(): Promise<ProcessIdentity> {
    await access(this.#paths.mover, constants.X_OK)
    this.#realTime ??= await realTimeWords()
    const before = this.#feed.state?.pid
    const [first, ...rest] = [
      ...this.#into(),
      ...this.#realTime,
      this.#paths.keepalived,
      ...['--dont-fork', '--vrrp', '--log-console', '--no-syslog'],
      `--use-file=${this.#files.config}`,
      `--pid=${this.#files.keepalivedPid}`,
      `--vrrp_pid=${this.#files.vrrpPid}`,
    ]
    // keepalived takes the process id in them for a running instance, even that of a zombie.
    for (const file of [this.#files.keepalivedPid, this.#files.vrrpPid]) await rm(file, { force: true })
    const keepalived = await startDaemon([first, ...rest], { logFile: this.#files.keepalivedLog })
    try {
      await this.#untilReady(keepalived, before)
      return keepalived
    } catch (error) {
      await this.end()
      throw error
    }
  }

  /** @param before the mover that wrote the last state */
  async #untilReady(keepalived: ProcessIdentity, before: number | undefined): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += READY_LOOK_MS)
      try {
        await this.#feed.until(({ pid }) => pid !== before, 'the address mover did not begin', READY_LOOK_MS)
        return
      } catch (error) {
        if (!(await isRunning(keepalived))) throw new Error(`keepalived ended: ${await this.#lastWords()}`)
        if (waitedMs >= READY_WITHIN_MS) throw error
      }
  }

  async #lastWords(): Promise<string> {
    const log = await readFile(this.#files.keepalivedLog, 'utf8').catch(() => '')
    return log.trim().split('\n').slice(-LAST_LINES).join('; ')
  }

  /** Makes keepalived reload its configuration. Resolves when it has: then another mover runs. */
  async reload(keepalived: ProcessIdentity): Promise<void> {
    const before = this.#feed.state?.pid
    await signalProcess(keepalived, 'SIGHUP')
    await this.#untilReady(keepalived, before)
  }

  /** @throws ExecError with keepalived's error text if it refuses the file */
  async test(config: string): Promise<void> {
    await execOk([...this.#into(), this.#paths.keepalived, '--config-test', `--use-file=${config}`])
  }

  /** Unbinds what a killed mover left. The table must still name its interfaces. A mover that runs does so itself. */
  async sweep(): Promise<void> {
    const { directory, fifo } = this.#files
    await execOk([...this.#into(), this.#paths.mover, '--sweep', '-1', '0', directory, fifo])
  }

  /**
   * Ends every keepalived of this directory with SIGTERM, so that a peer takes over at once. The mover ends with it.
   */
  async end(): Promise<void> {
    const parent = await this.find()
    if (parent !== null) await endProcess(parent, STOP_WITHIN_MS)
    // Its children outlive a killed parent if they are stopped.
    await Promise.all((await this.#processes()).map((process) => endProcess(process, STOP_WITHIN_MS)))
  }

  #into(): [string, ...string[]] {
    return this.#netns === undefined ? ['env'] : ['nsenter', `--net=${this.#netns}`, '--']
  }

  /** Parent and child have the same command line. */
  #processes(): Promise<readonly ProcessIdentity[]> {
    const [program, config] = [basename(this.#paths.keepalived), `--use-file=${this.#files.config}`]
    return findProcesses((words) => basename(words[0] ?? '') === program && words.includes(config))
  }
}
