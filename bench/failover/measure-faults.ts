import { type Lab, waitFor } from '@spout/testkit'
import type { Fault, FaultMaker } from './faults.ts'
import { type FlowResult, Flows, MEMBER_PORTS, Prober, type WorkerResult, Workers } from './observers.ts'
import { carrierOf, type Pair, type PairNode, someCarrier } from './pair.ts'

/** What clients observed of an event. */
export interface Seen {
  readonly gapMs: number
  readonly lost: number
  readonly stallInGapMs: number
  readonly flows: FlowResult | null
  readonly workers: WorkerResult | null
}

/** The effect of one fault. */
export interface Outage extends Seen {
  readonly fault: Fault
}

export interface WatcherOptions {
  readonly flows: boolean
  readonly workers: boolean
}

/** Clients of one pair, which stay connected through all its faults. */
export class Watchers implements AsyncDisposable {
  readonly pair: Pair
  readonly prober: Prober
  readonly flows: Flows | null
  readonly workers: Workers | null
  readonly #lab: Lab

  private constructor(lab: Lab, pair: Pair, prober: Prober, flows: Flows | null, workers: Workers | null) {
    this.#lab = lab
    this.pair = pair
    this.prober = prober
    this.flows = flows
    this.workers = workers
  }

  static async start(lab: Lab, pair: Pair, { flows, workers }: WatcherOptions): Promise<Watchers> {
    const prober = await Prober.start(lab, [pair.vip], { port: MEMBER_PORTS.udp })
    const since = await prober.begin()
    await prober.answeredAfter(since, 30_000)
    return new Watchers(
      lab,
      pair,
      prober,
      flows ? await Flows.start(lab, pair.vip) : null,
      workers ? await Workers.start(lab, pair.vip, MEMBER_PORTS.http) : null,
    )
  }

  get flow(): { readonly port: number; readonly sourcePort: number } {
    return { port: MEMBER_PORTS.udp, sourcePort: this.prober.sourcePort }
  }

  carrier(): Promise<PairNode> {
    return someCarrier(this.#lab, this.pair, this.flow)
  }

  /** Waits until the router sends the flow to another node. */
  movedFrom(carrier: PairNode): Promise<boolean> {
    const moved = async () => {
      const now = await carrierOf(this.#lab, this.pair, this.flow)
      return now !== null && now !== carrier
    }
    return waitFor(moved, { what: `${this.pair.name} to move`, timeoutMs: this.pair.patienceMs })
  }

  /**
   * Runs `work` while clients go on, and returns what they observed. `work` returns the time from which answers count.
   */
  async see(work: () => Promise<bigint>): Promise<Seen> {
    await this.flows?.open()
    await this.workers?.tell()
    await this.prober.begin()
    // At no fixed distance from an advert.
    await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200))
    const since = await work()
    await this.prober.answeredAfter(since + 200_000_000n, this.pair.patienceMs)
    const flows = (await this.flows?.check()) ?? null
    const workers = (await this.workers?.tell()) ?? null
    const { gapMs, lost, stallInGapMs } = await this.prober.end(since)
    return { gapMs, lost, stallInGapMs, flows, workers }
  }

  /** Causes a fault on the node that carries the address, measures its effect, and restores the node. */
  async suffer(fault: Fault, faults: FaultMaker): Promise<Outage> {
    const carrier = await this.carrier()
    const seen = await this.see(async () => {
      const since = await faults.make(fault, carrier)
      await this.movedFrom(carrier).catch((error: unknown) => {
        // A node of which only the daemons died may go on forwarding.
        if (!fault.startsWith('kill')) throw error
      })
      return since
    })
    await faults.mend(fault, carrier)
    await this.pair.restore(carrier)
    return { fault, ...seen }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workers?.[Symbol.asyncDispose]()
    await this.flows?.[Symbol.asyncDispose]()
    await this.prober[Symbol.asyncDispose]()
  }
}
