import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Command, Message, Pair } from './store-process.ts'

const PROGRAM = fileURLToPath(new URL('./store-process.ts', import.meta.url))

export interface StoreChildOptions {
  readonly env?: Readonly<Record<string, string>>
  /** A command line that executes the arguments appended to it. */
  readonly wrapper?: readonly string[]
}

/** A store in a process of its own. The caller must `kill` it. */
export class StoreChild {
  readonly acknowledged: Pair[] = []
  /** Ids that its watch reported. */
  readonly changes: string[] = []
  readonly #process: ChildProcessByStdio<Writable, Readable, null>
  readonly #closed: Promise<unknown>
  readonly #ready = Promise.withResolvers<void>()
  readonly #calls: PromiseWithResolvers<unknown>[] = []
  #gone = false

  constructor({ env = {}, wrapper = [] }: StoreChildOptions = {}) {
    const [file = process.execPath, ...args] = [...wrapper, process.execPath, PROGRAM]
    this.#process = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    this.#closed = once(this.#process, 'close')
    this.#ready.promise.catch(() => {})
    // A command can race with the kill. The broken pipe is then expected.
    this.#process.stdin.on('error', () => this.#abandon())
    this.#process.on('close', () => this.#abandon())
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#receive(line))
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Resolves when the program has started. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Rejects with the error's code and text, or when the process dies first. */
  call(command: Command): Promise<unknown> {
    const call = Promise.withResolvers<unknown>()
    const id = this.#calls.push(call) - 1
    if (this.#gone) this.#abandon()
    this.#process.stdin.write(`${JSON.stringify({ id, command })}\n`)
    return call.promise
  }

  /** Kills it without warning. Resolves when it has exited and all its output was read. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#closed
  }

  #receive(line: string): void {
    let message: Message
    try {
      message = JSON.parse(line) as Message
    } catch {
      return // cut off by the kill
    }
    if ('ready' in message) this.#ready.resolve()
    else if ('acknowledged' in message) this.acknowledged.push(message.acknowledged)
    else if ('change' in message) this.changes.push(message.change)
    else if ('error' in message) this.#calls[message.id]?.reject(new Error(`${message.error}: ${message.message}`))
    else this.#calls[message.id]?.resolve(message.result)
  }

  #abandon(): void {
    this.#gone = true
    this.#ready.reject(new Error('the process ended before it was ready'))
    for (const call of this.#calls) call.reject(new Error('the process is gone'))
  }
}
