import type { Ref } from './store.ts'

/** One write in the log. */
export interface LoggedWrite extends Ref {
  readonly scope: string | null
  /** The value as JSON. Where `value` is given, only the new parts of it; null is a deletion. */
  readonly text: string | null
  /** The value itself, frozen, if it is in memory. */
  readonly value?: unknown
  /** What the value takes in memory besides the text. Default: nothing. */
  readonly heldBytes?: number
}

/** One commit in the log. Sequences rise, with gaps. */
export interface LoggedCommit {
  readonly sequence: number
  readonly writes: readonly LoggedWrite[]
}

/** The part of a log that is read from a server: too far back to be in memory. */
export interface OlderLog {
  /** Whether the commits after `sequence` have to be loaded. */
  isDue(sequence: number): boolean
  /**
   * The next commits after `sequence`, at least one, whole and in order.
   * @throws SpoutError Gone when the log no longer reaches back to it
   */
  load(sequence: number): Promise<readonly LoggedCommit[]>
}

/** The log as watches read it. They pull; nothing is pushed to them. */
export interface LogReader {
  /** The newest commit's sequence. */
  readonly head: number
  /** Commits after this sequence can be read. */
  readonly floor: number
  /**
   * The first commit after `sequence`, which must not be below the floor; null at the head.
   * @param kinds writes of other kinds may be left out, because decoding their values can be expensive; null is all
   * kinds
   */
  after(sequence: number, kinds: ReadonlySet<string> | null): LoggedCommit | null
  /** Null: `after` reads everything above the floor. */
  readonly older: OlderLog | null
}

/** How much of the log is kept. Older commits are compacted automatically. */
export interface Retention {
  readonly changes: number
  /** Limit for the values as JSON text, and for what they take in memory beside it. */
  readonly bytes: number
}

const bytesOf = (commit: LoggedCommit): number =>
  commit.writes.reduce((sum, { text, heldBytes = 0 }) => sum + (text?.length ?? 0) + heldBytes, 0)

/**
 * The newest commits in memory, bounded. The memory engine keeps its whole log here, the sqlite engine the newest part.
 */
export class ChangeLog implements LogReader {
  readonly older = null
  readonly #retention: Retention
  /** In order. Those before `#first` are dropped and are removed together later. */
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
