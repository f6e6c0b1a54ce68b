import { readdir, readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { endProcess, identifyProcess, type ProcessIdentity, startDaemon } from '@spout/sys'

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
    const names = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))
    const found = await Promise.all(
      names.map(async (name) => {
        const words = (await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')).split('\0')
        const isOurs = basename(words[0] ?? '') === basename(this.#executable) && words[1] === this.#directory
        return isOurs ? identifyProcess(Number(name)) : null
      }),
    )
    return found.find((process) => process !== null) ?? null
  }

  /** Whether it runs another executable than the installed one, after an upgrade. */
  async isOutdated({ pid }: ProcessIdentity): Promise<boolean> {
    const [runs, installed] = await Promise.all([`/proc/${pid}/exe`, this.#executable].map((path) => fileOf(path)))
    return runs !== null && installed !== null && runs !== installed
  }

  /**
   * Whether it runs in another namespace than the wanted one: a namespace of that name was deleted and created again.
   */
  async isElsewhere({ pid }: ProcessIdentity): Promise<boolean> {
    const [runs, wanted] = await Promise.all([`/proc/${pid}/ns/net`, this.#netns ?? '/proc/self/ns/net'].map(fileOf))
    return runs !== null && wanted !== null && runs !== wanted
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

/** Null if the path does not exist. */
const fileOf = (path: string): Promise<string | null> =>
  stat(path).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => null,
  )
