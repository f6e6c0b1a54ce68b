import { type Clock, systemClock } from '../clock/clock.ts'
import { RecentPeaks } from '../telemetry/recent-peaks.ts'

export interface OneARoundOptions {
  /** How many go on in a round, over all lines. */
  readonly mostOfRound: number
  readonly clock?: Clock
}

/**
 * Gives turns. In one round of the event loop each line gets at most one, and all lines together `mostOfRound`: half for
 * those that had fewest at once lately, half for those that waited longest. The first of a round do not wait. So a
 * client with one request gets its answer at once, while answers to many requests of one commit are spread over rounds
 * in which others have their turns.
 */
export class OneARound {
  readonly #mostOfRound: number
  readonly #peaks: RecentPeaks
  /** Those who wait, by line. A line that had a turn goes to the end. */
  readonly #waiting = new Map<string, (() => void)[]>()
  /** Lines that had their turn in this round; null between rounds. */
  #served: Set<string> | null = null

  constructor({ mostOfRound, clock = systemClock }: OneARoundOptions) {
    this.#mostOfRound = mostOfRound
    this.#peaks = new RecentPeaks(clock)
  }

  /** Calls `go` now, or in a later round. */
  begin(line: string, go: () => void): void {
    const served = this.#thisRound()
    const waiting = this.#waiting.get(line)
    this.#peaks.note(line, 1 + (waiting?.length ?? 0) + (served.has(line) ? 1 : 0))
    if (waiting !== undefined) waiting.push(go)
    else if (served.has(line) || served.size >= this.#mostOfRound) this.#waiting.set(line, [go])
    else {
      served.add(line)
      go()
    }
  }

  /** Resolves when it is the caller's turn. */
  turn(line: string): Promise<void> {
    return new Promise((go) => this.begin(line, go))
  }

  #thisRound(): Set<string> {
    if (this.#served === null) {
      this.#served = new Set()
      setImmediate(() => this.#nextRound())
    }
    return this.#served
  }

  #nextRound(): void {
    this.#served = null
    if (this.#waiting.size === 0) return
    const served = this.#thisRound()
    const next = this.#peaks.fewestAndOldest([...this.#waiting.keys()], this.#mostOfRound).map((line) => {
      const waiting = this.#waiting.get(line)!
      const first = waiting.shift()!
      this.#waiting.delete(line)
      if (waiting.length > 0) this.#waiting.set(line, waiting)
      served.add(line)
      return first
    })
    for (const go of next) go()
  }
}
