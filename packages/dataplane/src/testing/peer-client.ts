import { type ChildProcess, spawn } from 'node:child_process'
import readline from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { PeerRequest } from './peer.ts'

/** What a peer answered: a member's line (`m1 10.0.0.9`) or an error's code (`ECONNREFUSED`). */
export type PeerAnswer = string

/** One host of the lab: a process in its own namespace. */
export class Peer {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<PeerAnswer>>()
  #next = 1
  #ended: Error | null = null

  constructor(namespace: string, name: string) {
    const script = fileURLToPath(new URL('./peer.ts', import.meta.url))
    this.#child = spawn('ip', ['netns', 'exec', namespace, process.execPath, script, name], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    readline.createInterface({ input: this.#child.stdout! }).on('line', (text) => {
      const { id, line, error } = JSON.parse(text) as { id: number; line?: string; error?: string }
      this.#waiting.get(id)?.resolve(line ?? error ?? '')
      this.#waiting.delete(id)
    })
    // The end of the process tells the same.
    this.#child.stdin!.on('error', () => {})
    this.#child.once('close', (code, killedBy) => {
      this.#ended = new Error(`peer ${name} ended (${killedBy ?? code})`)
      for (const { reject } of this.#waiting.values()) reject(this.#ended)
    })
  }

  /** Opens a connection that stays; its number. */
  async open(address: string, port: number, from: From = {}): Promise<{ connection: number; line: PeerAnswer }> {
    const connection = this.#next
    return { connection, line: await this.#ask({ op: 'open', address, port, connection, ...from }) }
  }

  /** Over TCP and UDP, at one address or at all. */
  serve = async (port: number, address?: string): Promise<void> => {
    const answer = await this.#ask({ op: 'serve', port, ...(address === undefined ? {} : { address }) })
    if (answer !== 'serving') throw new Error(`cannot serve ${address ?? 'any address'} port ${port}: ${answer}`)
  }
  say = (connection: number, text: string): Promise<PeerAnswer> => this.#ask({ op: 'say', connection, text })
  hear = (connection: number): Promise<PeerAnswer> => this.#ask({ op: 'hear', connection })
  /** Every connection this member serves gets the text, unasked. */
  push = (text: string): Promise<PeerAnswer> => this.#ask({ op: 'push', text })
  /** How many connections this member serves now. */
  served = async (): Promise<number> => Number(await this.#ask({ op: 'served' }))
  /** Every connection this member serves ends; how many they were. */
  part = (how: 'end' | 'reset'): Promise<PeerAnswer> => this.#ask({ op: 'part', text: how })
  /** How the other side ends it: `ended`, `ECONNRESET`, or `ETIMEDOUT` for not at all. */
  ending = (connection: number): Promise<PeerAnswer> => this.#ask({ op: 'ending', connection })
  /** Ends this side of it alone: what the other still says is heard. */
  end = (connection: number): Promise<PeerAnswer> => this.#ask({ op: 'end', connection })
  close = (connection: number): Promise<PeerAnswer> => this.#ask({ op: 'close', connection })
  /** Ends it by a reset: its port is free at once. */
  reset = (connection: number): Promise<PeerAnswer> => this.#ask({ op: 'reset', connection })
  connect = (address: string, port: number, from: From = {}): Promise<PeerAnswer> =>
    this.#ask({ op: 'connect', address, port, ...from })
  datagram = (address: string, port: number, from: From = {}): Promise<PeerAnswer> =>
    this.#ask({ op: 'datagram', address, port, ...from })

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#waiting.clear()
    this.#child.kill('SIGKILL')
    await ended
  }

  /** @throws Error when the process has ended, or ends before it answers */
  async #ask(request: Omit<PeerRequest, 'id'>): Promise<PeerAnswer> {
    if (this.#ended !== null) throw this.#ended
    const id = this.#next++
    const answer = Promise.withResolvers<PeerAnswer>()
    this.#waiting.set(id, answer)
    this.#child.stdin?.write(`${JSON.stringify({ id, ...request })}\n`)
    return answer.promise
  }
}

/** Where a client asks from, and how long it waits for an answer: 15 s unless none is to come. */
export interface From {
  readonly source?: string
  readonly sourcePort?: number
  readonly withinMs?: number
}

/** For an answer that is not to come. */
export const SILENCE_MS = 3_000
