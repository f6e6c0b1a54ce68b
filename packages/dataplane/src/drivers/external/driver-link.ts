import { Backoff, type Clock } from '@spout/runtime'
import { type Log, ReplySocket } from '@spout/sys'
import {
  type Answer,
  type Counters,
  countersIn,
  featuresIn,
  PROTOCOL_VERSION,
  parseAnswer,
  type Request,
  type WireEntry,
} from './protocol.ts'

export interface DriverLinkOptions {
  /** As the node's configuration names it. */
  readonly name: string
  /** Names this agent, and no other that the driver may serve. */
  readonly agent: string
  /** Path of the UNIX socket on which the driver listens. */
  readonly socket: string
  /** What it must offer. */
  readonly features: ReadonlySet<string>
  /** The entries that it has been given, which a process that has just started must know. */
  readonly held: () => Iterable<WireEntry>
  readonly clock: Clock
  readonly log: Log
}

/** The driver cannot be reached, or said what nobody can use. It may or may not have done what it was asked for. */
export class DriverAway extends Error {
  override readonly name = 'DriverAway'
}

/** A driver that is silent for longer while it is asked counts as gone: all entries of the node wait for it. */
const ANSWER_WITHIN_MS = 5_000
/** Answers name entries and listeners: a node has some ten thousand. */
const LONGEST_ANSWER = 64 << 20
/** While it is away, it is tried this seldom, so that entries which do not need it do not wait for it. */
const PAUSES = { firstMs: 1_000, mostMs: 30_000 }
/** Entries in one `adopt`. */
const MOST_ADOPTED = 256
const NOTHING: Counters = { transactions: 0, reloads: 0 }

/**
 * The connection to the driver, which is made when it is needed. A new one begins with the version and the features, and
 * with all that the driver was given before. Callers ask one thing at a time.
 */
export class DriverLink {
  readonly #options: DriverLinkOptions
  readonly #pauses = new Backoff(PAUSES)
  #socket: ReplySocket | null = null
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #why = ''
  /** Added to what its process counts: what earlier ones counted, less what this one had counted before we came. */
  #before: Counters = NOTHING
  #now: Counters = NOTHING

  constructor(options: DriverLinkOptions) {
    this.#options = options
  }

  /** What the driver changed since the start of the agent. */
  get counters(): Counters {
    const of = (name: keyof Counters): number => this.#before[name] + this.#now[name]
    return { transactions: of('transactions'), reloads: of('reloads') }
  }

  /** Connects, unless it is connected. @throws DriverAway */
  async open(): Promise<void> {
    if (this.#socket?.open) return
    const { name, clock, log } = this.#options
    if (clock.monotonicMs() < this.#notBeforeMs) throw new DriverAway(`driver ${name} is away: ${this.#why}`)
    try {
      await this.#connect()
      if (this.#pauses.failures > 0) log.info({ event: 'driver-back', driver: name }, 'a driver is back')
      this.#pauses.reset()
    } catch (error) {
      throw this.#failed(error)
    }
  }

  /** @throws DriverAway */
  async ask(request: Request): Promise<Answer> {
    await this.open()
    try {
      return await this.#ask(request)
    } catch (error) {
      throw this.#failed(error)
    }
  }

  close(): void {
    this.#socket?.close()
    this.#socket = null
  }

  async #connect(): Promise<void> {
    const { name, agent, socket, features, held } = this.#options
    this.#socket = await ReplySocket.connect(socket, {
      ...{ requestEncoding: 'utf8', replyEnd: '\n', peer: `driver ${name}` },
      ...{ replyWithinMs: ANSWER_WITHIN_MS, longestReply: LONGEST_ANSWER },
      onLost: () => {},
      lost: (message) => new DriverAway(message),
    })
    const hello = await this.#send({
      ...{ call: 'hello', agent, versions: [PROTOCOL_VERSION], features: [...features].sort() },
    })
    const offered = featuresIn(hello)
    const lacking = [...features].filter((feature) => !offered.has(feature))
    if (lacking.length > 0) throw new Error(`it does not offer ${lacking.join(', ')}`)
    this.#countFrom(countersIn(hello) ?? NOTHING)
    const entries = [...held()]
    for (let at = 0; at < Math.max(1, entries.length); at += MOST_ADOPTED) {
      const next = at + MOST_ADOPTED
      await this.#ask({ call: 'adopt', entries: entries.slice(at, next), more: next < entries.length })
    }
  }

  async #ask(request: Request): Promise<Answer> {
    const answer = await this.#send(request)
    this.#now = countersIn(answer) ?? this.#now
    return answer
  }

  async #send(request: Request): Promise<Answer> {
    const [line = ''] = (await this.#socket?.send([`${JSON.stringify(request)}\n`])) ?? []
    return parseAnswer(Buffer.from(line, 'latin1').toString('utf8'))
  }

  #countFrom(now: Counters): void {
    const { transactions, reloads } = this.counters
    this.#before = { transactions: transactions - now.transactions, reloads: reloads - now.reloads }
    this.#now = now
  }

  #failed(error: unknown): DriverAway {
    const { name, clock, log } = this.#options
    this.close()
    this.#why = error instanceof Error ? error.message : String(error)
    const pauseMs = this.#pauses.next()
    this.#notBeforeMs = clock.monotonicMs() + pauseMs
    if (this.#pauses.failures === 1)
      log.warn(
        { event: 'driver-away', driver: name, error: this.#why },
        'a driver is away; its entries stay as they are',
      )
    return new DriverAway(error instanceof DriverAway ? this.#why : `driver ${name}: ${this.#why}`)
  }
}
