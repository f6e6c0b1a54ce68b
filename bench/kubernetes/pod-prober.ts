import { LineProgram } from '../bed/native.ts'

/** When a pod answered, in ns on CLOCK_MONOTONIC. */
export interface PodAnswers {
  readonly firstNs: bigint
  readonly lastNs: bigint
  readonly count: number
}

export interface Answers {
  readonly pods: ReadonlyMap<string, PodAnswers>
  /** Requests without an answer. */
  readonly failed: number
}

/** Controls `programs/pod-answers.c`, which sends requests to an address without a pause. */
export class PodProber extends LineProgram {
  /** Answers since the last reset. */
  async tell(): Promise<Answers> {
    return parse(await this.ask('tell'))
  }

  /** Clears the answers; resolves with them. */
  async reset(): Promise<Answers> {
    return parse(await this.ask('reset'))
  }
}

function parse(line: string): Answers {
  const pods = new Map<string, PodAnswers>()
  let failed = 0
  for (const part of line.split(';')) {
    const [name = '', first = '0', last = '0', count = '0'] = part.split(' ')
    if (name === '-') failed = Number(count)
    else pods.set(name, { firstNs: BigInt(first), lastNs: BigInt(last), count: Number(count) })
  }
  return { pods, failed }
}
