import type { Lab } from '@spout/testkit'
import { compile, LineProgram } from '../bed/native.ts'
import type { PairNode } from './pair.ts'

export const FAULTS = ['link cut', 'kill -9', 'power off'] as const
/**
 * `kill -9 of the elector`: only the electing daemon dies. The program that moves addresses lives on and must notice.
 */
export type Fault = (typeof FAULTS)[number] | 'kill -9 of the elector'

/** Causes faults on nodes at a known time (programs/faults.c), and repairs them. */
export class FaultMaker implements AsyncDisposable {
  readonly #program: LineProgram

  private constructor(program: LineProgram) {
    this.#program = program
  }

  static async start(lab: Lab): Promise<FaultMaker> {
    return new FaultMaker(new LineProgram(lab, 'fabric', [await compile(lab, 'faults')]))
  }

  /** Pulls the cable between a node and the fabric's switch: the node only loses its carrier. */
  linkCut({ ports }: PairNode): Promise<bigint> {
    return this.#do(`down ${ports[0]}`)
  }

  /** Kills the announcer's daemons, and nothing cleans up after them; addresses, links and forwarding stay. */
  async killDaemons(node: PairNode, which: 'daemons' | 'electors' = 'daemons'): Promise<bigint> {
    const pids = await node[which]()
    if (pids.length === 0) throw new Error(`${node.name} runs nothing that announces`)
    return this.#do(`kill ${pids.join(' ')}`)
  }

  /** Mutes every link within microseconds, then kills every process, so that none can send a goodbye. */
  async powerOff(node: Pick<PairNode, 'ports' | 'processes'>): Promise<bigint> {
    return this.#do(`mute ${node.ports.join(' ')} kill ${(await node.processes()).join(' ')}`)
  }

  async make(fault: Fault, node: PairNode): Promise<bigint> {
    if (fault === 'link cut') return this.linkCut(node)
    if (fault === 'power off') return this.powerOff(node)
    return this.killDaemons(node, fault === 'kill -9' ? 'daemons' : 'electors')
  }

  /** Repairs links; the node itself starts its processes. */
  async mend(fault: Fault, { ports }: Pick<PairNode, 'ports'>): Promise<void> {
    if (fault === 'link cut') await this.#do(`up ${ports[0]}`)
    if (fault === 'power off') await this.#do(`unmute ${ports.join(' ')}`)
  }

  async freeze(pids: readonly number[]): Promise<bigint> {
    return this.#do(`stop ${pids.join(' ')}`)
  }

  async wake(pids: readonly number[]): Promise<bigint> {
    return this.#do(`cont ${pids.join(' ')}`)
  }

  async kill(pids: readonly number[]): Promise<bigint> {
    return this.#do(`kill ${pids.join(' ')}`)
  }

  /** @returns when it began, in ns on CLOCK_MONOTONIC */
  async #do(line: string): Promise<bigint> {
    const answer = await this.#program.ask(line)
    if (answer.startsWith('error')) throw new Error(answer)
    return BigInt(answer.split(' ')[0] ?? '')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]()
  }
}
