import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { bundled, PRODUCT_ENVIRONMENT, waitFor } from '@spout/testkit'

const PROGRAM = bundled(path.resolve(import.meta.dirname, '../main.ts'))

/** A line of the log, as JSON. */
export type LogLine = Readonly<Record<string, string | number>>

/** The arguments that start the control plane: on ports of the system's choice, with a store in memory. */
export const programWith = (settings: readonly string[]): readonly string[] => [
  PROGRAM,
  ...['store.engine=memory', 'api.port=0', 'agentLink.port=0', 'status.port=0', ...settings].flatMap((setting) => [
    '--set',
    setting,
  ]),
]

/** The control plane as its process serves it, with a directory of its own. */
export class ControlPlaneProcess implements AsyncDisposable {
  readonly stateDirectory: string
  readonly #child: ChildProcess
  #log = ''

  private constructor(stateDirectory: string, settings: readonly string[]) {
    this.stateDirectory = stateDirectory
    const argv = programWith([`stateDirectory=${stateDirectory}`, ...settings])
    this.#child = spawn(process.execPath, argv, { env: PRODUCT_ENVIRONMENT, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#log += chunk.toString('utf8')
    })
  }

  /**
   * Resolves once it listens.
   * @param settings `key=value`, as for `--set`
   * @param prepare puts what it needs into its state directory
   */
  static async start(
    settings: readonly string[],
    prepare: (stateDirectory: string) => Promise<void> = async () => {},
  ): Promise<ControlPlaneProcess> {
    const directory = mkdtempSync(path.join(tmpdir(), 'spout-control-plane-'))
    await prepare(directory)
    const started = new ControlPlaneProcess(directory, settings)
    try {
      const what = 'the control plane to listen'
      await waitFor(() => started.lines('listening').length > 0, { what, timeoutMs: 60_000 })
      return started
    } catch (error) {
      await started[Symbol.asyncDispose]()
      throw error
    }
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** The API's base URL, such as `http://127.0.0.1:8080`. */
  get address(): string {
    return String(this.lines('listening')[0]?.['address'])
  }

  get port(): number {
    return Number(new URL(this.address).port)
  }

  get statusPort(): number {
    return Number(this.lines('listening')[0]?.['statusPort'])
  }

  /** Everything that the process has logged. */
  get log(): string {
    return this.#log
  }

  /** The lines that the process has logged for an event. */
  lines(event: string): readonly LogLine[] {
    const isOf = (text: string) => text.includes(`"event":"${event}"`)
    return this.#log
      .split('\n')
      .slice(0, -1)
      .filter(isOf)
      .map((text) => JSON.parse(text) as LogLine)
  }

  /** As a crash of it would. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.stateDirectory, { recursive: true, force: true })
  }
}
