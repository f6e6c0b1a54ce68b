import { type Lab, waitFor } from '@spout/testkit'
import { compile, LineProgram } from '../bed/native.ts'

/** A prober's report about a window (programs/prober.c). */
export interface ProbeResult {
  readonly sent: number
  readonly lost: number
  /** The longest silence of one address: last answer before, first after. */
  readonly gapMs: number
  /** The sender's own longest pause: this part of the gap was no outage. */
  readonly stallMs: number
  readonly stallInGapMs: number
  /** Until the last of the addresses answered again; -1 if one did not. */
  readonly backMs: number
  readonly silentMs: number
  /** Addresses that lost a probe. */
  readonly touched: number
  readonly back?: readonly number[]
}

/** Probes an address every millisecond, or many addresses in turn. */
export class Prober implements AsyncDisposable {
  readonly #program: LineProgram
  /** UDP port of all probes; with the address it decides where a router sends the flow. */
  readonly sourcePort: number
  /** Whether its threads run at real-time priority. */
  readonly realtime: boolean

  private constructor(program: LineProgram, sourcePort: number, realtime: boolean) {
    this.#program = program
    this.sourcePort = sourcePort
    this.realtime = realtime
  }

  /** @param port 0 probes by ICMP */
  static async start(
    lab: Lab,
    addresses: readonly string[],
    { port, intervalUs = 1000, place = 'client' }: { port: number; intervalUs?: number; place?: string },
  ): Promise<Prober> {
    const argv = [await compile(lab, 'prober'), String(port), String(intervalUs), ...addresses]
    const program = new LineProgram(lab, place, argv)
    const [, source, realtime] = (await program.next()).split(' ')
    return new Prober(program, Number(source), realtime === '1')
  }

  async begin(): Promise<bigint> {
    return BigInt(await this.#program.ask('begin'))
  }

  /**
   * Waits until a probe sent after this time was answered, and another one a moment later.
   * @returns how long after this time the first of them was sent, in ms
   */
  async answeredAfter(sinceNs: bigint, timeoutMs: number): Promise<number> {
    let first: bigint | null = null
    await waitFor(
      async () => {
        const newest = BigInt(await this.#program.ask('last'))
        if (newest > sinceNs) first ??= newest
        return first !== null && newest > first + 50_000_000n
      },
      { what: 'the address to answer', timeoutMs, everyMs: 10 },
    )
    return Number((first ?? sinceNs) - sinceNs) / 1e6
  }

  async end(sinceNs = 0n, all = false): Promise<ProbeResult> {
    return JSON.parse(await this.#program.ask(`end ${sinceNs}${all ? ' all' : ''}`)) as ProbeResult
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }
}

interface Fates {
  readonly survived: number
  readonly reset: number
  readonly hung: number
}

export interface FlowResult extends Pick<Fates, 'survived'> {
  readonly idle: Fates
  readonly busy: Fates
  readonly of: number
  readonly slowestMs: number
  readonly pauseMs: number
}

export const FLOWS = { idle: 1000, busy: 100, beatMs: 50 } as const
/** A client's port may meet an old connection whose end a dead node was never told. */
const OPEN_ROUNDS = 3
/** TCP retransmits after 0.2, 0.4, 0.8, 1.6 s: a flow that is not back by then hangs. */
const CHECK_MS = 5000

/** 1,000 idle and 100 busy TCP connections to echoes. */
export class Flows implements AsyncDisposable {
  readonly #program: LineProgram
  readonly #address: string
  /** Connections that needed more than one attempt, of all that were opened. */
  openedAgain = 0

  private constructor(program: LineProgram, address: string) {
    this.#program = program
    this.#address = address
  }

  static async start(lab: Lab, address: string, port = 9000): Promise<Flows> {
    const { idle, busy, beatMs } = FLOWS
    const argv = [await compile(lab, 'flows'), address, ...[port, idle, busy, beatMs].map(String)]
    return new Flows(new LineProgram(lab, 'client', argv), address)
  }

  /** Closes the old ones. @throws Error when not all come up in three rounds */
  async open(): Promise<void> {
    let said = ''
    for (let round = 0; round < OPEN_ROUNDS; round++) {
      said = await this.#program.ask('open')
      const [opened = 0, again = 0] = said.split(' ', 2).map(Number)
      this.openedAgain += again
      if (opened === FLOWS.idle + FLOWS.busy) return
      this.openedAgain += FLOWS.idle + FLOWS.busy - opened
    }
    throw new Error(`not all flows to ${this.#address} could be opened (opened, tries, ports): ${said}`)
  }

  /** How many idle flows have received something that their member sent unasked. */
  async heard(): Promise<number> {
    return Number(await this.#program.ask(`heard ${CHECK_MS}`))
  }

  async check(): Promise<FlowResult> {
    return JSON.parse(await this.#program.ask(`check ${CHECK_MS}`)) as FlowResult
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }
}

export interface WorkerResult {
  readonly requests: number
  readonly failed: number
  readonly reconnects: number
  readonly gapMs: number
}

/** 8 HTTP clients with kept-alive connections. */
export class Workers implements AsyncDisposable {
  readonly #program: LineProgram

  private constructor(program: LineProgram) {
    this.#program = program
  }

  static async start(lab: Lab, address: string, port: number): Promise<Workers> {
    return new Workers(
      new LineProgram(lab, 'client', [await compile(lab, 'keep-alive-clients'), address, String(port), '8']),
    )
  }

  /** What happened since the last call. */
  async tell(): Promise<WorkerResult> {
    const [requests = 0, failed = 0, reconnects = 0, gapMs = 0] = (await this.#program.ask('')).split(' ').map(Number)
    return { requests, failed, reconnects, gapMs }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }
}

/** The lab's members of a tenant, as programs that are never the bottleneck (programs/echo-member.c). */
export class EchoMembers implements AsyncDisposable {
  readonly #programs: readonly LineProgram[]

  private constructor(programs: readonly LineProgram[]) {
    this.#programs = programs
  }

  /** @param numbered number of UDP ports from 20,000 that answer with their own number */
  static async start(lab: Lab, places: readonly string[], numbered = 0): Promise<EchoMembers> {
    const argv = [await compile(lab, 'echo-member'), ...(numbered > 0 ? ['20000', String(numbered)] : [])]
    const programs = places.map((place) => new LineProgram(lab, place, argv))
    for (const program of programs) await program.next()
    return new EchoMembers(programs)
  }

  get pids(): readonly number[] {
    return this.#programs.map(({ pid }) => pid)
  }

  /** Every member sends something on each idle flow. @returns the number of flows */
  async push(): Promise<number> {
    const pushed = await Promise.all(this.#programs.map((program) => program.ask('push')))
    return pushed.reduce((sum, one) => sum + Number(one), 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program[Symbol.asyncDispose]()
  }
}

/** Ports of an `echo-member`. */
export const MEMBER_PORTS = { udp: 9001, tcp: 9000, http: 8080, numbered: 20_000 } as const
