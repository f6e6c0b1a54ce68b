import { cpus } from 'node:os'
import type { Lab } from '@spout/testkit'
import { compile, LineProgram } from '../bed/native.ts'

const HOGS_PER_CORE = 2

/** Ordinary processes that use every core all the time, until disposed. They end by themselves after a while. */
export class Hogs implements AsyncDisposable {
  readonly #programs: readonly LineProgram[]

  private constructor(programs: readonly LineProgram[]) {
    this.#programs = programs
  }

  /** Two per core, on these places in turn. */
  static async start(lab: Lab, places: readonly string[], seconds: number): Promise<Hogs> {
    const argv = [await compile(lab, 'hog'), String(seconds)]
    const count = HOGS_PER_CORE * cpus().length
    return new Hogs(
      Array.from({ length: count }, (_, n) => new LineProgram(lab, places[n % places.length] ?? 'host', argv)),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program[Symbol.asyncDispose]()
  }
}

const TABLE = 'bench_loss'

/** Drops this percentage of the packets that match a rule, in both directions. */
export async function lose(lab: Lab, place: string, matching: readonly string[], percent: number): Promise<void> {
  const rules = matching.map((match) => `    ${match} numgen random mod 100 < ${percent} drop`)
  const chain = (hook: 'input' | 'output') => [
    `  chain ${hook} {`,
    `    type filter hook ${hook} priority -300;`,
    ...rules.map((rule) => (hook === 'input' ? rule : rule.replace('iifname', 'oifname'))),
    '  }',
  ]
  const text = [`table inet ${TABLE} {`, ...chain('input'), ...chain('output'), '}', '']
  await lab.must(place, ['nft', '-f', '-'], { input: text.join('\n') })
}

export const loseNothing = (lab: Lab, place: string): Promise<unknown> =>
  lab.run(place, ['nft', 'delete', 'table', 'inet', TABLE])

/** Counts how often a node takes an address. */
export class TakeCounter {
  readonly #lab: Lab
  readonly #files: readonly string[]
  readonly #vip: string

  private constructor(lab: Lab, vip: string, files: readonly string[]) {
    this.#lab = lab
    this.#vip = vip
    this.#files = files
  }

  static async start(lab: Lab, places: readonly string[], vip: string): Promise<TakeCounter> {
    const files: string[] = []
    for (const place of places) {
      const argv = ['stdbuf', '-oL', 'ip', '-o', 'monitor', 'address']
      files.push((await lab.start(place, `takes-${place}-${vip}`, argv)).logFile)
    }
    return new TakeCounter(lab, vip, files)
  }

  async count(): Promise<number> {
    const texts = await Promise.all(this.#files.map((file) => this.#lab.must('host', ['cat', file])))
    const lines = texts.flatMap((text) => text.split('\n'))
    return lines.filter((line) => line.includes(` ${this.#vip}/`) && !line.startsWith('Deleted')).length
  }
}
