import { type ChildProcessByStdio, spawn } from 'node:child_process'
import path from 'node:path'
import readline from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { type Lab, waitFor } from '@spout/testkit'
import type { KeptAlive } from './kept-alive-clients.ts'

/** Runs `kept-alive-clients.ts` on the client. */
export class Clients implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: NodeJS.AsyncIterator<string>
  readonly #ended: Promise<unknown>

  constructor(system: { readonly lab: Lab }, vip: string) {
    const program = path.resolve(import.meta.dirname, 'kept-alive-clients.ts')
    const argv = system.lab.argvIn('client', [process.execPath, program, vip, '80', '8', '4'])
    this.#child = spawn(argv[0]!, argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdin.on('error', () => {})
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve).once('error', resolve))
    this.#lines = readline.createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  async tell(): Promise<KeptAlive> {
    return (await this.#ask('tell')) as KeptAlive
  }

  /** Makes the idle clients send one request. */
  async idle(): Promise<void> {
    await this.#ask('idle')
  }

  /** Waits until all of them have sent more requests. */
  async goOn(): Promise<KeptAlive> {
    const seen = { asked: 0, opened: 0, failures: [] as string[] }
    await waitFor(
      async () => {
        const { asked, opened, failures } = await this.tell()
        seen.asked += asked
        seen.opened += opened
        seen.failures.push(...failures)
        return seen.asked > 500
      },
      { what: '500 requests' },
    )
    return seen
  }

  async #ask(word: string): Promise<unknown> {
    this.#child.stdin.write(`${word}\n`)
    const { value } = await this.#lines.next()
    if (value === undefined) throw new Error('the program of the clients has ended')
    return JSON.parse(value)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end()
    await this.#ended
  }
}
