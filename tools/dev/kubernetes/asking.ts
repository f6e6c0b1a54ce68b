import { type Caller, waitFor } from '@spout/testkit'

/** What a pod of the lab answers. */
export interface PodAnswer {
  readonly pod: string
  readonly node: string
  /** The address it saw. */
  readonly client: string
}

interface Asked {
  /** When the answer was there, by `performance.now()`. */
  readonly atMs: number
  readonly answer: PodAnswer | null
}

/** One request on a connection of its own; null when there was no good answer. */
export async function ask(caller: Caller, address: string): Promise<PodAnswer | null> {
  const outcome = await caller.http(address, 80, { timeoutMs: 2000 })
  return outcome.ok && outcome.value.status === 200 ? (JSON.parse(outcome.value.body) as PodAnswer) : null
}

const RECENT = 40

/** A client that asks again and again, each time by a new connection, until it is stopped. */
export class Asking {
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

  /** When a pod answered first; null while it did not. */
  firstOf(pod: string): number | null {
    return this.#all.find(({ answer }) => answer?.pod === pod)?.atMs ?? null
  }

  /** When a pod answered last. */
  lastOf(pod: string): number | null {
    return this.#all.findLast(({ answer }) => answer?.pod === pod)?.atMs ?? null
  }

  /** Waits until of the last so many answers since now each fits, and together they fit too. */
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
