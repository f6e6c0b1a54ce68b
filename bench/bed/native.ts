import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { type Lab, must, type PlaceName } from '@spout/testkit'

/** Compiles a program of `bench/programs` into the lab's directory, with libraries such as `ssl`. */
export async function compile(lab: Lab, program: string, libraries: readonly string[] = []): Promise<string> {
  const source = path.resolve(import.meta.dirname, '../programs', `${program}.c`)
  const binary = path.join(lab.directory, program)
  await must(['cc', '-O2', '-D_GNU_SOURCE', '-pthread', '-o', binary, source, ...libraries.map((name) => `-l${name}`)])
  return binary
}

/** A program in a place of the lab that is controlled by lines. */
export class LineProgram implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: Interface
  readonly #exited: Promise<void>
  readonly #answers: ((line: string) => void)[] = []
  #said: string[] = []

  constructor(lab: Lab, place: PlaceName, argv: readonly string[]) {
    const [command = '', ...args] = lab.argvIn(place, argv)
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#exited = new Promise((resolve) => this.#child.once('close', () => resolve()).once('error', () => resolve()))
    this.#child.stdin?.on('error', () => {})
    this.#lines = createInterface({ input: this.#child.stdout! })
    this.#lines.on('line', (line) => {
      const waiting = this.#answers.shift()
      if (waiting) waiting(line)
      else this.#said.push(line)
    })
  }

  /** Pid of the program itself, because places are entered by an exec. */
  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Writes a line and resolves with the next line of output. */
  ask(line: string): Promise<string> {
    this.#child.stdin?.write(`${line}\n`)
    return this.next()
  }

  /** @throws Error when the program ended without a line */
  next(): Promise<string> {
    const [first, ...rest] = this.#said
    this.#said = rest
    if (first !== undefined) return Promise.resolve(first)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    this.#answers.push(resolve)
    void this.#exited.then(() => reject(new Error(`${this.#child.spawnfile} ended without an answer`)))
    return promise
  }

  /** Ends its input, and resolves with its last line. */
  finish(): Promise<string> {
    this.#child.stdin?.end()
    return this.next()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}
