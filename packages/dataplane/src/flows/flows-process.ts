import { basename } from 'node:path'
import {
  endProcess,
  findProcesses,
  isInAnotherNetns,
  type ProcessIdentity,
  runsAnotherProgram,
  startDaemon,
} from '@spout/sys'

const STOP_WITHIN_MS = 2_000

/** Starts, finds and ends `spout-flows`. The process outlives the agent and is found by its directory. */
export class FlowsProcess {
  readonly #executable: string
  readonly #directory: string
  readonly #netns: string | undefined

  /** @param netns path of the namespace that faces the fabric; absent for this process's own */
  constructor(executable: string, directory: string, netns: string | undefined) {
    this.#executable = executable
    this.#directory = directory
    this.#netns = netns
  }

  async find(): Promise<ProcessIdentity | null> {
    const program = basename(this.#executable)
    const [found] = await findProcesses((words) => basename(words[0] ?? '') === program && words[1] === this.#directory)
    return found ?? null
  }

  /** Whether an upgrade replaced the program, or the namespace that it faces was deleted and made again. */
  async isOutdated(process: ProcessIdentity): Promise<boolean> {
    return (await runsAnotherProgram(process, this.#executable)) || isInAnotherNetns(process, this.#netns)
  }

  start(): Promise<ProcessIdentity> {
    const into = this.#netns === undefined ? [] : ['nsenter', `--net=${this.#netns}`, '--']
    const [first, ...rest] = [...into, this.#executable, this.#directory]
    return startDaemon([first!, ...rest], { logFile: `${this.#directory}/flows.log` })
  }

  /** Its flows stay in the kernel until they expire. */
  async end(process: ProcessIdentity): Promise<void> {
    await endProcess(process, STOP_WITHIN_MS)
  }
}
