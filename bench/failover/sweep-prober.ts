import { type Lab, waitFor } from '@spout/testkit'
import { compile, LineProgram } from '../bed/native.ts'

/** A sweep's report about a window (programs/sweep-prober.c). */
export interface SweepResult {
  readonly sent: number
  readonly lost: number
  /** Addresses that lost a probe. */
  readonly touched: number
  /** Until the last lost probe of any address was sent: the last address was back after this, ... */
  readonly silentMs: number
  /** ... and until the last of them had answered, at the latest; -1 if one never did. */
  readonly backMs: number
  /** The prober's own longest delay. */
  readonly stallMs: number
  readonly stallInOutageMs: number
}

/** Probe interval of each address while all answer. */
export const SWEEP_INTERVAL_MS = 500
/** Probes per millisecond to addresses that fell silent. */
const BUDGET = 40

/** Probes many addresses of one family without disturbing what it measures. */
export class SweepProber implements AsyncDisposable {
  readonly #program: LineProgram
  readonly #addresses: number

  private constructor(program: LineProgram, addresses: number) {
    this.#program = program
    this.#addresses = addresses
  }

  static async start(lab: Lab, addresses: readonly string[], place = 'client'): Promise<SweepProber> {
    const argv = [await compile(lab, 'sweep-prober'), String(SWEEP_INTERVAL_MS), String(BUDGET), ...addresses]
    const program = new LineProgram(lab, place, argv)
    await program.next()
    return new SweepProber(program, addresses.length)
  }

  async begin(): Promise<bigint> {
    return BigInt(await this.#program.ask('begin'))
  }

  /**
   * Reports a fault at this time: from now on, addresses that have not answered since are probed as often as possible.
   */
  async fault(sinceNs: bigint): Promise<void> {
    await this.#program.ask(`fault ${sinceNs}`)
  }

  /** Waits until every address has answered since the fault. */
  async allBack(timeoutMs: number): Promise<void> {
    const back = async () => Number(await this.#program.ask('left')) === 0
    await waitFor(back, { what: `${this.#addresses} addresses to answer again`, timeoutMs, everyMs: 20 })
  }

  async end(sinceNs = 0n): Promise<SweepResult> {
    return JSON.parse(await this.#program.ask(`end ${sinceNs}`)) as SweepResult
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }
}
