import type { Ref } from './store.ts'

/** One write as the log keeps it. */
export interface LoggedWrite extends Ref {
  readonly scope: string | null
  /** The value as JSON, or what of it is new where `value` is given; null is a deletion. */
  readonly text: string | null
  /** The value itself, frozen, where it is at hand. */
  readonly value?: unknown
}

/** One commit as the log keeps it. Sequences rise, not necessarily by one. */
export interface LoggedCommit {
  readonly sequence: number
  readonly writes: readonly LoggedWrite[]
}

/** What a watch reads. It pulls; nothing is pushed to it. */
export interface LogReader {
  /** The newest commit's sequence. */
  readonly head: number
  /** Commits after this sequence can be read. */
  readonly floor: number
  /**
   * The first commit after `sequence`, which is not below the floor; null at the head.
   * @param kinds writes of others may be left out: to make their values can cost a lot; null is all
   */
  after(sequence: number, kinds: ReadonlySet<string> | null): LoggedCommit | null
}

/** How much log is kept. What is older is compacted away by itself. */
export interface Retention {
  readonly changes: number
  /** Of values as JSON text. */
  readonly bytes: number
}

const bytesOf = (commit: LoggedCommit): number => commit.writes.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)

/** The newest commits in memory, bounded: all the log of the memory engine, the warm end of the sqlite engine's. */
export class ChangeLog implements LogReader {
  readonly #retention: Retention
  /** In order; those before `#first` are dropped already and wait to be cut off in one go. */
  #commits: LoggedCommit[] = []
  #first = 0
  #changes = 0
  #bytes = 0
  #floor: number
  #head: number

  /** @param floor the sequence that the first commit follows */
  constructor(retention: Retention, floor: number) {
    this.#retention = retention
    this.#floor = floor
    this.#head = floor
  }

  get floor(): number {
    return this.#floor
  }

  get head(): number {
    return this.#head
  }

  append(commit: LoggedCommit): void {
    this.#commits.push(commit)
    this.#head = commit.sequence
    this.#changes += commit.writes.length
    this.#bytes += bytesOf(commit)
    while (this.#changes > this.#retention.changes || this.#bytes > this.#retention.bytes) this.#dropOldest()
    this.#cut()
  }

  after(sequence: number): LoggedCommit | null {
    let low = this.#first
    let high = this.#commits.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#commits[middle]!.sequence <= sequence) low = middle + 1
      else high = middle
    }
    return this.#commits[low] ?? null
  }

  /** Drops the commits up to `sequence`. */
  compact(sequence: number): void {
    while ((this.#commits[this.#first]?.sequence ?? Number.POSITIVE_INFINITY) <= sequence) this.#dropOldest()
    this.#cut()
  }

  #dropOldest(): void {
    const oldest = this.#commits[this.#first++]
    if (oldest === undefined) return
    this.#changes -= oldest.writes.length
    this.#bytes -= bytesOf(oldest)
    this.#floor = oldest.sequence
  }

  #cut(): void {
    if (this.#first * 2 <= this.#commits.length) return
    this.#commits = this.#commits.slice(this.#first)
    this.#first = 0
  }
}
