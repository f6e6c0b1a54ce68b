import { type Clock, RecentPeaks } from '@spout/runtime'

/** How long a request goes ahead, from its start. One that takes longer waits for something, as a watch does. */
const AHEAD_MS = 10
/** A request counts as one of its line for this long at most. */
const COUNTS_MS = 1000
/** The most time for which others can be held without a pause. */
const MOST_SAVED_MS = 20

const NONE: ReadonlySet<string> = new Set()

interface UnderWay {
  readonly sinceMs: number
}

/**
 * Decides which lines hold back their next requests. The line with fewest requests goes ahead: all others hold back
 * while a request of it waits or is under way. A write takes several rounds of the event loop. Without this, whoever
 * has many requests open would slow each of them for a client that asks one thing after the other.
 *
 * Others are held for half of the time at most, however many go ahead.
 */
export class RightOfWay {
  readonly #clock: Clock
  readonly #goesAhead: (line: string) => boolean
  readonly #underWay = new Map<string, Set<UnderWay>>()
  /**
   * The most requests that each line had lately. One that had two a moment ago is busier than one that never has two.
   */
  readonly #peaks: RecentPeaks
  #savedMs = MOST_SAVED_MS
  #isHolding = false
  #lookedMs: number

  /** @param goesAhead whether requests of this line may go ahead; whoever can invent lines must not */
  constructor(clock: Clock, goesAhead: (line: string) => boolean) {
    this.#clock = clock
    this.#goesAhead = goesAhead
    this.#peaks = new RecentPeaks(clock)
    this.#lookedMs = clock.monotonicMs()
  }

  /** A request of this line has arrived. @param waiting how many of it wait now */
  arrive(line: string, waiting: number): void {
    this.#peaks.note(line, waiting + this.#underWayOf(line))
  }

  /**
   * Picks lines: half of them those with fewest requests, half those that waited longest.
   * @param lines in the order in which they began to wait
   * @param most how many to pick
   */
  fewestAndOldest(lines: readonly string[], most: number): readonly string[] {
    return this.#peaks.fewestAndOldest(lines, most)
  }

  /** A request of this line starts. @returns to be called when it is answered */
  begin(line: string): () => void {
    const one: UnderWay = { sinceMs: this.#clock.monotonicMs() }
    const of = this.#underWay.get(line)
    if (of === undefined) this.#underWay.set(line, new Set([one]))
    else of.add(one)
    return () => this.#remove(line, one)
  }

  /** Those of the lines that hold back their requests now. @param waiting the lines with requests that wait */
  held(waiting: readonly string[]): ReadonlySet<string> {
    const nowMs = this.#clock.monotonicMs()
    const sinceMs = nowMs - this.#lookedMs
    this.#lookedMs = nowMs
    this.#savedMs = Math.min(MOST_SAVED_MS, this.#savedMs + (this.#isHolding ? -sinceMs : sinceMs))
    this.#forgetOld(nowMs)
    const held = this.#savedMs > 0 && !this.#isAlone(waiting) ? this.#linesBehind(waiting) : NONE
    this.#isHolding = held.size > 0
    return held
  }

  /** Whether one line waits, and no other has requests under way. */
  #isAlone([line, ...others]: readonly string[]): boolean {
    const own = line !== undefined && this.#underWay.has(line) ? 1 : 0
    return others.length === 0 && this.#underWay.size === own
  }

  #linesBehind(waiting: readonly string[]): ReadonlySet<string> {
    const isYoung = (requests: ReadonlySet<UnderWay>) =>
      [...requests].some(({ sinceMs }) => this.#lookedMs - sinceMs < AHEAD_MS)
    const young = [...this.#underWay].filter(([, requests]) => isYoung(requests)).map(([line]) => line)
    const goingAhead = [...young, ...waiting].filter(this.#goesAhead)
    const fewest = Math.min(...goingAhead.map((line) => this.#peaks.of(line)))
    return new Set(waiting.filter((line) => this.#peaks.of(line) > fewest))
  }

  #underWayOf(line: string): number {
    return this.#underWay.get(line)?.size ?? 0
  }

  /** Requests are in the order of their starts. */
  #forgetOld(nowMs: number): void {
    for (const [line, requests] of this.#underWay)
      for (const one of requests) {
        if (nowMs - one.sinceMs < COUNTS_MS) break
        this.#remove(line, one)
      }
  }

  #remove(line: string, one: UnderWay): void {
    const of = this.#underWay.get(line)
    of?.delete(one)
    if (of?.size === 0) this.#underWay.delete(line)
  }
}
