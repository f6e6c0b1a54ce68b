import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { NodeSyslog } from '@spout/model/node-state'
import type { Clock } from '@spout/runtime'
import type { Log } from '@spout/sys'

/** Messages since the agent started. `lost`: the receiver was away or slow, or refused them. */
export type SyslogCounts = Readonly<Record<'sent' | 'lost', number>>

export interface SyslogSenderOptions {
  /** `spout-syslog`. */
  readonly executable: string
  /** Path of the namespace that it sends from. */
  readonly netns: string
  /** User and group of the process. */
  readonly uid: number
  readonly target: NodeSyslog
  readonly count: (what: keyof SyslogCounts, messages: number) => void
  readonly clock: Clock
  readonly log: Log
}

/** Messages of one receiver that wait in the agent. The pipe has room for 64 kB more, and the process as much. */
const MOST_WAITING_BYTES = 256 * 1024
const PAUSE_MS = 1_000
/** Time to send what is queued when it ends. */
const END_WITHIN_MS = 2_000

type Sending = ChildProcessByStdio<Writable, Readable, Readable>

/** Sends messages to one syslog receiver, by a process in the receiver's network. Who sends never waits. */
export class SyslogSender {
  readonly #options: SyslogSenderOptions
  #process: Sending | null = null
  #ended: Promise<void> = Promise.resolve()
  /** Messages that were given to the process, and those that it reported. */
  #given = 0
  #told = { sent: 0, lost: 0 }
  /** A process that ended is not started again before. */
  #notBeforeMs = 0

  constructor(options: SyslogSenderOptions) {
    this.#options = options
  }

  /** The process knows why a receiver is away; here it is counted. */
  get trouble(): string | null {
    return null
  }

  /** @param message printable ASCII */
  send(message: string): void {
    const { clock, count } = this.#options
    if (this.#process === null && clock.monotonicMs() >= this.#notBeforeMs) this.#process = this.#start()
    const { stdin } = this.#process ?? {}
    if (stdin === undefined || stdin.writableLength + message.length > MOST_WAITING_BYTES) count('lost', 1)
    else {
      this.#given++
      stdin.write(`${message.length} ${message}`, 'latin1')
    }
  }

  /** Ends the process once it sent what it has, or could not in time. */
  async close(): Promise<void> {
    const process = this.#process
    if (process === null) return
    process.stdin.end()
    const kill = setTimeout(() => process.kill('SIGKILL'), END_WITHIN_MS)
    await this.#ended
    clearTimeout(kill)
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#ended
  }

  #start(): Sending {
    const { executable, netns, uid, target, log } = this.#options
    const argv = [netns, String(uid), target.transport, target.address, String(target.port)]
    const process = spawn(executable, argv, { stdio: ['pipe', 'pipe', 'pipe'], env: {} })
    this.#given = 0
    this.#told = { sent: 0, lost: 0 }
    process.stdin.on('error', () => undefined)
    createInterface(process.stdout).on('line', (line) => this.#tell(line))
    createInterface(process.stderr).on('line', (line) => log.warn({ line }, 'spout-syslog'))
    process.on('error', (error) => log.warn({ error: String(error) }, 'spout-syslog cannot be started'))
    this.#ended = once(process, 'close').then(
      () => this.#end(),
      () => this.#end(),
    )
    return process
  }

  /** @param line counts of messages that the process has sent and lost since it started */
  #tell(line: string): void {
    const [sent, lost] = line.split(' ').map(Number)
    if (sent === undefined || lost === undefined || !(sent >= this.#told.sent) || !(lost >= this.#told.lost)) return
    this.#options.count('sent', sent - this.#told.sent)
    this.#options.count('lost', lost - this.#told.lost)
    this.#told = { sent, lost }
  }

  /** Messages that were given to the process and not sent are lost. */
  #end(): void {
    this.#options.count('lost', Math.max(0, this.#given - this.#told.sent - this.#told.lost))
    this.#process = null
    this.#notBeforeMs = this.#options.clock.monotonicMs() + PAUSE_MS
  }
}
