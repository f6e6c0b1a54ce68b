import { type Clock, Mutex, pause } from '@spout/runtime'

interface Turn {
  readonly mutex: Mutex
  /** How many tasks are under way or waiting. */
  tasks: number
  /** When the next task may begin, in milliseconds of the monotonic clock. */
  nextMs: number
}

/** Runs tasks of one project one at a time, with a pause between them. Projects do not wait for each other. */
export class ProjectTurns {
  readonly #clock: Clock
  readonly #gapMs: number
  readonly #turns = new Map<string, Turn>()
  readonly #stopping = new AbortController()

  constructor(clock: Clock, gapMs: number) {
    this.#clock = clock
    this.#gapMs = gapMs
  }

  /** How long a new task would wait at least, in milliseconds: the present pause, and one for each task before it. */
  waitMs(projectId: string): number {
    const turn = this.#turns.get(projectId)
    if (turn === undefined) return 0
    return Math.max(0, turn.nextMs - this.#clock.monotonicMs()) + turn.tasks * this.#gapMs
  }

  async run<T>(projectId: string, task: () => Promise<T>): Promise<T> {
    this.#forgetRested()
    const turn = this.#turns.get(projectId) ?? { mutex: new Mutex(), tasks: 0, nextMs: 0 }
    this.#turns.set(projectId, turn)
    turn.tasks++
    try {
      return await turn.mutex.run(async () => {
        const waitMs = turn.nextMs - this.#clock.monotonicMs()
        if (waitMs > 0) await pause(this.#clock, waitMs, this.#stopping.signal)
        try {
          return await task()
        } finally {
          turn.nextMs = this.#clock.monotonicMs() + this.#gapMs
        }
      })
    } finally {
      turn.tasks--
    }
  }

  /** Ends all pauses at once. */
  stop(): void {
    this.#stopping.abort()
  }

  /**
   * Removes projects whose pause is over. The map is in the order of insertion, so it stops at the first that is not.
   */
  #forgetRested(): void {
    const nowMs = this.#clock.monotonicMs()
    for (const [id, { tasks, nextMs }] of this.#turns) {
      if (tasks > 0 || nextMs > nowMs) break
      this.#turns.delete(id)
    }
  }
}
