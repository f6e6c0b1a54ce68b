import type { Clock } from '../clock/clock.ts'

/** A peak is remembered for this long, or for twice as long. */
const WINDOW_MS = 500

/** The highest count of each line within the last moment. A line without counts is forgotten. */
export class RecentPeaks {
  readonly #clock: Clock
  #now = new Map<string, number>()
  #before = new Map<string, number>()
  #sinceMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#sinceMs = clock.monotonicMs()
  }

  note(line: string, count: number): void {
    this.#turn()
    if (count > (this.#now.get(line) ?? 0)) this.#now.set(line, count)
  }

  of(line: string): number {
    this.#turn()
    return Math.max(this.#now.get(line) ?? 0, this.#before.get(line) ?? 0)
  }

  /** Whether another line, of those with counts, has a lower one. */
  isAboveAnother(line: string): boolean {
    const own = this.of(line)
    // No line with counts has less than one, so a line with one need not be compared with the others.
    if (own <= 1) return false
    for (const lines of [this.#before, this.#now])
      for (const other of lines.keys()) if (other !== line && this.of(other) < own) return true
    return false
  }

  /**
   * Picks lines: half of them those with the lowest peaks, half those that waited longest.
   * @param lines in the order in which they began to wait
   * @param most how many to pick
   */
  fewestAndOldest(lines: readonly string[], most: number): readonly string[] {
    if (lines.length <= most) return lines
    const byPeaks = lines.toSorted((one, other) => this.of(one) - this.of(other))
    const taken = new Set<string>()
    for (let at = 0; taken.size < most; at++)
      for (const line of [byPeaks[at]!, lines[at]!]) if (taken.size < most) taken.add(line)
    return [...taken]
  }

  #turn(): void {
    const windows = (this.#clock.monotonicMs() - this.#sinceMs) / WINDOW_MS
    if (windows < 1) return
    this.#before = windows < 2 ? this.#now : new Map()
    this.#now = new Map()
    this.#sinceMs += Math.floor(windows) * WINDOW_MS
  }
}
