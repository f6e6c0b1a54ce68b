import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { RunResult } from '../lab/run.ts'

const SOURCE = path.resolve(import.meta.dirname, 'openstack-program.py')
/** Debian's, whatever else is installed: the client belongs to it. */
const PYTHON = '/usr/bin/python3'

/**
 * Debian's unmodified `openstack` client, with its modules loaded once: a second of the processor for all commands
 * together, not for each. Commands may run side by side.
 */
export class OpenStackProgram implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #directory = mkdtempSync(path.join(tmpdir(), 'spout-openstack-'))
  readonly #ends = new Map<number, (code: number) => void>()
  readonly #gone: Promise<unknown>
  #isGone = false
  #commands = 0

  constructor() {
    // Not the files of whoever runs the tests, and a home where the client keeps which of its commands is whose.
    const env = this.#environment({})
    this.#child = spawn(PYTHON, [SOURCE], { env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdin?.on('error', () => {})
    const lines = createInterface({ input: this.#child.stdout! })
    lines.on('line', (line) => {
      const [id, code] = line.split(' ').map(Number)
      this.#ends.get(id!)?.(code!)
    })
    this.#gone = new Promise((resolve) => this.#child.once('exit', resolve).once('error', resolve)).then(() => {
      this.#isGone = true
      for (const end of this.#ends.values()) end(127)
    })
  }

  /** Runs `openstack ARGV…` with this environment alone; 127 when the program is gone. */
  async run(
    argv: readonly string[],
    { env, input = '' }: { readonly env: Readonly<Record<string, string>>; readonly input?: string },
  ): Promise<RunResult> {
    const id = ++this.#commands
    const directory = mkdtempSync(path.join(this.#directory, `${id}-`))
    writeFileSync(path.join(directory, 'stdin'), input)
    for (const name of ['stdout', 'stderr']) writeFileSync(path.join(directory, name), '')
    const ended = new Promise<number>((resolve) => this.#ends.set(id, resolve))
    if (this.#isGone) this.#ends.get(id)?.(127)
    this.#child.stdin?.write(`${JSON.stringify({ id, argv, env: this.#environment(env), directory })}\n`)
    const code = await ended
    this.#ends.delete(id)
    const [stdout, stderr] = ['stdout', 'stderr'].map((name) => readFileSync(path.join(directory, name), 'utf8'))
    return { code, stdout: stdout!, stderr: stderr! }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin?.end()
    await this.#gone
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #environment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return { PATH: '/usr/bin:/bin', HOME: this.#directory, LC_ALL: 'C.UTF-8', no_proxy: '*', ...env }
  }
}
