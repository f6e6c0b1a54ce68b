import { type Caller, waitFor } from '@spout/testkit'

/** The answer of a pod of the lab. */
export interface PodAnswer {
  readonly pod: string
  readonly node: string
  /** The client address that the pod saw. */
  readonly client: string
}

interface Asked {
  /** Time of the answer, by `performance.now()`. */
  readonly atMs: number
  readonly answer: PodAnswer | null
}

/** Sends one request on a connection of its own; null without a valid answer. */
export async function ask(caller: Caller, address: string): Promise<PodAnswer | null> {
  const outcome = await caller.http(address, 80, { timeoutMs: 2000 })
  return outcome.ok && outcome.value.status === 200 ? (JSON.parse(outcome.value.body) as PodAnswer) : null
}

const RECENT = 40

/** A client that sends requests again and again, each on a new connection, until it is stopped. */
export class Asking implements AsyncDisposable {
  readonly #all: Asked[] = []
  readonly #running: Promise<void>
  #stopped = false

  constructor(caller: Caller, address: string) {
    this.#running = this.#run(caller, address)
  }

  async #run(caller: Caller, address: string): Promise<void> {
    while (!this.#stopped) {
      const answer = await ask(caller, address)
      this.#all.push({ atMs: performance.now(), answer })
    }
  }

  get count(): number {
    return this.#all.length
  }

  get failed(): number {
    return this.#all.filter(({ answer }) => answer === null).length
  }

  /** Time of a pod's first answer; null while there is none. */
  firstOf(pod: string): number | null {
    return this.#all.find(({ answer }) => answer?.pod === pod)?.atMs ?? null
  }

  /** Time of a pod's last answer. */
  lastOf(pod: string): number | null {
    return this.#all.findLast(({ answer }) => answer?.pod === pod)?.atMs ?? null
  }

  /** Waits until the last 40 requests, all sent from now on, are answered, and the answers hold together. */
  async recently(what: string, holds: (answers: readonly PodAnswer[]) => boolean): Promise<readonly PodAnswer[]> {
    const from = this.#all.length
    return waitFor(
      () => {
        const recent = this.#all.slice(Math.max(from, this.#all.length - RECENT))
        const answers = recent.flatMap(({ answer }) => (answer === null ? [] : [answer]))
        return recent.length === RECENT && answers.length === RECENT && holds(answers) && answers
      },
      { what, timeoutMs: 30_000, everyMs: 10 },
    )
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}

/** `web-a 4, web-b 8`. */
export function describePods(answers: readonly PodAnswer[]): string {
  const counts = new Map<string, number>()
  for (const { pod } of answers) counts.set(pod, (counts.get(pod) ?? 0) + 1)
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([pod, count]) => `${pod} ${count}`)
    .join(', ')
}

export const podsOf = (answers: readonly PodAnswer[]): readonly string[] => [
  ...new Set(answers.map(({ pod }) => pod).sort()),
]
