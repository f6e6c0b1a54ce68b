import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import path from 'node:path'
import readline from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Lab, PlaceName } from '../lab/lab.ts'

interface Target {
  readonly address: string
  readonly port: number
  /** Source address; null: the place's default. */
  readonly source: string | null
  /** Source port; 0: the kernel chooses. */
  readonly sourcePort: number
  readonly timeoutMs: number
}

/** One line of input for the program. */
export type Call = { readonly id: number } & (
  | ({ readonly op: 'http'; readonly path: string; readonly headers: Readonly<Record<string, string>> } & Target)
  | ({ readonly op: 'tcp' | 'hold' } & Target)
  | ({ readonly op: 'udp'; readonly text: string } & Target)
  | { readonly op: 'say'; readonly connection: number; readonly text: string; readonly timeoutMs: number }
  | { readonly op: 'drop'; readonly connection: number }
)
type CallRequest<C = Call> = C extends Call ? Omit<C, 'id'> : never

/** Result of a call: the answer, or the error's code (`ECONNREFUSED`, `TIMEOUT`, `CLOSED`). */
export type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly code: string }

export interface CallOptions {
  readonly source?: string
  readonly sourcePort?: number
  readonly timeoutMs?: number
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A lab member's answer over HTTP. */
export interface MemberAnswer {
  readonly member: string
  /** The client address that the member saw. */
  readonly from: string
  readonly path: string
  readonly forwardedFor?: string
}

/** A TCP connection that stays open. */
export interface HeldConnection {
  /** The member at its other end. */
  readonly member: string
  /** Sends a line and resolves with the answer line. */
  say(text: string, timeoutMs?: number): Promise<Outcome<string>>
  drop(): Promise<void>
}

/** Makes connections from a place of the lab. One process makes all of them, because starting one costs 50 ms. */
export class Caller implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #waiting = new Map<number, (reply: Outcome<never>) => void>()
  #lastId = 0

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child
    child.stdin.on('error', () => {})
    child.on('exit', () => {
      for (const answer of this.#waiting.values()) answer(GONE)
      this.#waiting.clear()
    })
    readline.createInterface({ input: child.stdout }).on('line', (text) => {
      const { id, ...outcome } = JSON.parse(text) as { readonly id: number } & Outcome<never>
      this.#waiting.get(id)?.(outcome)
      this.#waiting.delete(id)
    })
  }

  static async start(lab: Lab, place: PlaceName): Promise<Caller> {
    const program = path.resolve(import.meta.dirname, 'caller-program.ts')
    const [command = '', ...args] = lab.argvIn(place, [process.execPath, program])
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    await new Promise<void>((resolve, reject) => {
      const ended = () => reject(new Error(`the caller in ${place} ended before it was ready`))
      child.once('error', reject).once('exit', ended)
      child.stdout.once('readable', () => {
        // The end of its output is readable, too.
        if (child.stdout.readableLength === 0) return
        child.off('exit', ended)
        resolve()
      })
    })
    return new Caller(child)
  }

  /** Makes one HTTP request on a connection of its own, which ends by a reset if it has a source port. */
  async http(
    address: string,
    port = 80,
    options: CallOptions = {},
  ): Promise<Outcome<{ status: number; body: string }>> {
    const { path = '/', headers = {} } = options
    return this.#call({
      op: 'http',
      path,
      headers: { connection: options.sourcePort === undefined ? 'close' : 'keep-alive', ...headers },
      ...target(address, port, options),
    })
  }

  /** Makes requests one after another; each result is a member's answer, else null. */
  async members(address: string, times: number, options: CallOptions & { readonly port?: number } = {}) {
    const answers: (MemberAnswer | null)[] = []
    for (let left = times; left > 0; left--) {
      const outcome = await this.http(address, options.port ?? 80, options)
      answers.push(outcome.ok && outcome.value.status === 200 ? (JSON.parse(outcome.value.body) as MemberAnswer) : null)
    }
    return answers
  }

  /** Connects and reads the first line (the lab's TCP members send their name). */
  async tcp(address: string, port: number, options: CallOptions = {}): Promise<Outcome<string>> {
    return received(await this.#call({ op: 'tcp', ...target(address, port, options) }))
  }

  /** @throws Error when it cannot connect */
  async hold(address: string, port: number, options: CallOptions = {}): Promise<HeldConnection> {
    const outcome = await this.#call<{ received: string; connection: number }>({
      op: 'hold',
      ...target(address, port, options),
    })
    if (!outcome.ok) throw new Error(`no connection to ${address} port ${port}: ${outcome.code}`)
    const { connection } = outcome.value
    return {
      member: outcome.value.received,
      say: async (text, timeoutMs = 2000) => received(await this.#call({ op: 'say', connection, text, timeoutMs })),
      drop: async () => void (await this.#call({ op: 'drop', connection })),
    }
  }

  /** Sends one datagram from a port of its own and reads one answer. */
  async udp(address: string, port: number, text: string, options: CallOptions = {}): Promise<Outcome<string>> {
    return received(await this.#call({ op: 'udp', text, ...target(address, port, options) }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (hasEnded(this.#child)) return
    const gone = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
    this.#child.stdin.end()
    this.#child.kill()
    await gone
  }

  #call<T>(request: CallRequest): Promise<Outcome<T>> {
    // Not at once: callers ask again without a pause, and nothing else would run any more.
    if (hasEnded(this.#child)) return new Promise((resolve) => setTimeout(() => resolve(GONE), 10))
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve)
      this.#child.stdin.write(`${JSON.stringify({ id, ...request })}\n`)
    })
  }
}

/** The outcome of every call of a program that has ended. */
const GONE = { ok: false, code: 'CALLER_GONE' } as const

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

const target = (address: string, port: number, { source, sourcePort = 0, timeoutMs = 2000 }: CallOptions): Target => ({
  address,
  port,
  source: source ?? null,
  sourcePort,
  timeoutMs,
})

const received = (outcome: Outcome<{ received: string }>): Outcome<string> =>
  outcome.ok ? { ok: true, value: outcome.value.received } : outcome

/**
 * Repeats a call until stopped, and keeps the result of every round, so that a gap in the traffic shows as a failure.
 * @param pauseMs between an answer and the next question: without one, a stream takes most of a processor from everything
 * else
 */
export function askOn<T>(ask: () => Promise<Outcome<T>>, pauseMs = 10): { stop(): Promise<readonly Outcome<T>[]> } {
  const outcomes: Outcome<T>[] = []
  let stopped = false
  const running = (async () => {
    while (!stopped) {
      outcomes.push(await ask())
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  })()
  return {
    stop: async () => {
      stopped = true
      await running
      return outcomes
    },
  }
}
