import { Turns } from '@spout/runtime'

/** Ids in the order in which a `WorkQueue` would hand them out to idle workers: each worker gets one as it is added. */
export class WorkerTurns {
  #idle: number
  readonly #handedOut = new Set<string>()
  readonly #waiting = new Turns()

  constructor(workers: number) {
    this.#idle = workers
  }

  add(id: string, group = ''): void {
    if (this.#handedOut.has(id)) return
    if (this.#idle > 0) {
      this.#idle--
      this.#handedOut.add(id)
    } else this.#waiting.add(id, group)
  }

  /** The next id; null when none is left. */
  take(): string | null {
    for (const id of this.#handedOut) {
      this.#handedOut.delete(id)
      return id
    }
    return this.#waiting.take()
  }
}
