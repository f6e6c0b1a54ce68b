import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { HelperError, HelperLost, type RefusedChange } from './helper-protocol/errors.ts'
import type { Log } from './log.ts'
import type { BatchLine } from './nft-batch-lines.ts'

/** A reply line that said `ok`. */
export type Reply = Readonly<Record<string, unknown>>

/** One line of an exchange: the request and, for parts of a batch, how to interpret a refusal. */
interface Line {
  readonly text: (id: number) => string
  readonly last: boolean
  readonly locate?: BatchLine['locate']
}

/** One or more lines that are sent without a gap and answered together. */
interface Exchange {
  readonly lines: Iterator<Line>
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
  failed: boolean
  /** Id of its last line; null before it was sent. */
  id: number | null
}

interface Pending {
  readonly exchange: Exchange
  readonly lane: Lane
  readonly line: Line
}

interface Lane {
  readonly queue: Exchange[]
  readonly limit: number
  inFlight: number
}

const CLOSE_DEADLINE_MS = 2_000

/**
 * The connection to one helper process: requests and replies as JSON lines, matched by id, and lines with events. It
 * ends with that process.
 *
 * It has two lanes. Probes wait for other hosts and have a limit of their own, so that kernel changes never queue behind
 * them.
 */
export class HelperChannel {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly #pending = new Map<number, Pending>()
  readonly #changes: Lane = { queue: [], limit: 1024, inFlight: 0 }
  readonly #probes: Lane
  readonly #lost: Promise<string>
  #lostReason: string | null = null
  #lastId = 0
  #blocked = false
  #isCorked = false

  readonly #onEvent: (event: Reply) => void

  private constructor(path: string, log: Log, maxProbes: number, onEvent: (event: Reply) => void) {
    this.#onEvent = onEvent
    this.#probes = { queue: [], limit: maxProbes, inFlight: 0 }
    this.#child = spawn(path, [], { stdio: ['pipe', 'pipe', 'pipe'], env: {} })
    this.#lost = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(this.#end(String(error))))
      // `close` rather than `exit`: replies written just before the end still count.
      this.#child.once('close', (code, signal) => resolve(this.#end(`exit ${signal ?? code}`)))
    })
    // EPIPE only tells that the process is gone. `close` reports the reason.
    this.#child.stdin.on('error', () => undefined)
    this.#child.stdin.on('drain', () => {
      this.#blocked = false
      this.#pump()
    })
    createInterface(this.#child.stdout).on('line', (line) => this.#receive(line))
    createInterface(this.#child.stderr).on('line', (line) => log.warn({ line }, 'the native helper wrote a line'))
  }

  /** @param onEvent called with each line that is not a reply; must not throw */
  static spawn(path: string, log: Log, maxProbes: number, onEvent: (event: Reply) => void): HelperChannel {
    return new HelperChannel(path, log, maxProbes, onEvent)
  }

  get pid(): number | null {
    return this.#child.pid ?? null
  }

  onLost(listener: (reason: string) => void): void {
    void this.#lost.then(listener)
  }

  call(op: string, fields: object): Promise<Reply> {
    return this.#enqueue(this.#changes, single(op, fields))
  }

  /**
   * @param signal cancels the probe, which frees its place at once. A probe that was not sent yet rejects
   */
  probe(op: string, fields: object, signal?: AbortSignal): Promise<Reply> {
    return this.#enqueue(this.#probes, single(op, fields), signal)
  }

  batch(lines: Iterable<BatchLine>): Promise<Reply> {
    return this.#enqueue(this.#changes, batch(lines))
  }

  /** Ends the helper by closing its input; kills it if it does not end. */
  async close(): Promise<void> {
    this.#child.stdin.end()
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), CLOSE_DEADLINE_MS)
    await this.#lost
    clearTimeout(kill)
  }

  #enqueue(lane: Lane, lines: Iterator<Line>, signal?: AbortSignal): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#lostReason !== null) return reject(new HelperLost(this.#lostReason))
      if (signal?.aborted === true) return reject(new HelperError('given up'))
      const giveUp = () => this.#giveUp(lane, exchange)
      const done = () => signal?.removeEventListener('abort', giveUp)
      const exchange: Exchange = {
        lines,
        resolve: (reply) => {
          done()
          resolve(reply)
        },
        reject: (error) => {
          done()
          reject(error)
        },
        failed: false,
        id: null,
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      lane.queue.push(exchange)
      this.#pump()
    })
  }

  #giveUp(lane: Lane, exchange: Exchange): void {
    const at = lane.queue.indexOf(exchange)
    if (at >= 0) {
      lane.queue.splice(at, 1)
      exchange.reject(new HelperError('given up'))
    } else if (exchange.id !== null && this.#lostReason === null)
      // Its own reply follows and frees the place.
      this.call('give-up', { request: exchange.id }).catch(() => undefined)
  }

  #pump(): void {
    for (const lane of [this.#changes, this.#probes])
      while (!this.#blocked && lane.inFlight < lane.limit && lane.queue.length > 0) this.#sendNext(lane)
  }

  #sendNext(lane: Lane): void {
    const exchange = lane.queue[0]
    if (exchange === undefined) return
    const next = exchange.failed ? null : exchange.lines.next()
    if (next === null || next.done) {
      lane.queue.shift()
      return
    }
    if (next.value.last) lane.queue.shift()
    const id = ++this.#lastId
    exchange.id = id
    this.#pending.set(id, { exchange, lane, line: next.value })
    lane.inFlight++
    this.#cork()
    this.#blocked = !this.#child.stdin.write(next.value.text(id))
  }

  /** Lines of the same turn go out in one write, since each one wakes the helper up. */
  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    this.#child.stdin.cork()
    process.nextTick(() => {
      this.#isCorked = false
      this.#child.stdin.uncork()
    })
  }

  #receive(text: string): void {
    const reply = parse(text)
    if (typeof reply?.event === 'string') {
      this.#onEvent(reply)
      return
    }
    const pending = this.#pending.get(Number(reply?.id))
    if (reply === null || pending === undefined) {
      // A helper that violates the protocol cannot be trusted with the next reply either.
      this.#child.kill('SIGKILL')
      return
    }
    this.#pending.delete(Number(reply.id))
    pending.lane.inFlight--
    const { exchange, line } = pending
    if (reply.ok !== true) {
      exchange.failed = true
      exchange.reject(refusal(reply, line))
    } else if (line.last) exchange.resolve(reply)
    this.#pump()
  }

  #end(reason: string): string {
    this.#lostReason = reason
    const lost = new HelperLost(reason)
    for (const { exchange } of this.#pending.values()) exchange.reject(lost)
    for (const lane of [this.#changes, this.#probes]) for (const exchange of lane.queue) exchange.reject(lost)
    this.#pending.clear()
    this.#changes.queue.length = 0
    this.#probes.queue.length = 0
    return reason
  }
}

function* single(op: string, fields: object): Generator<Line> {
  yield { text: (id) => `${JSON.stringify({ id, op, ...fields })}\n`, last: true }
}

function* batch(lines: Iterable<BatchLine>): Generator<Line> {
  for (const { fields, last, locate } of lines)
    yield { text: (id) => `${JSON.stringify({ id, op: 'nft-batch', ...fields })}\n`, last, locate }
}

function parse(text: string): Reply | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Reply) : null
  } catch {
    return null
  }
}

function refusal(reply: Reply, line: Line): HelperError {
  const { error, errno, index, element, refused } = reply as {
    error?: string
    errno?: string
    index?: number
    element?: number
    refused?: readonly RefusedChange[]
  }
  const at = index === undefined ? { index, element } : (line.locate?.(index, element) ?? { index, element })
  return new HelperError(error ?? 'refused without a reason', { errno, refused, ...at })
}
