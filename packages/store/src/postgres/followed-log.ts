import { SpoutError } from '@spout/model'
import { ChangeLog, type LoggedCommit, type LogReader, type OlderLog, type Retention } from '../change-log.ts'
import { formatRevision } from '../revision.ts'
import { SharedQuestion } from '../shared-question.ts'
import type { DatabaseReader, LogEnds } from './database-reader.ts'

/** Recent commits that are kept in memory, so that a watch that keeps up asks nothing of the server. */
const WARM: Retention = { changes: 4096, bytes: 16 * 1024 * 1024 }

/**
 * The log as this process knows it: its newest part in memory, whoever wrote it. It grows by what this process writes,
 * and by what is read when others have written.
 */
export class FollowedLog implements LogReader {
  readonly older: OlderLog = {
    isDue: (sequence) => sequence < this.#warm.floor,
    load: (sequence) => this.#load(sequence),
  }
  readonly #reader: DatabaseReader
  readonly #storeId: string
  readonly #onNews: () => void
  #warm: ChangeLog
  #floor: number
  readonly #catchUp = new SharedQuestion(() => this.#read())

  /** @param onNews called when it has grown, or its floor has risen */
  constructor(reader: DatabaseReader, { storeId, head, floor }: LogEnds, onNews: () => void) {
    this.#reader = reader
    this.#storeId = storeId
    this.#onNews = onNews
    this.#warm = new ChangeLog(WARM, head)
    this.#floor = floor
  }

  get head(): number {
    return this.#warm.head
  }

  get floor(): number {
    return this.#floor
  }

  after(sequence: number): LoggedCommit | null {
    return this.#warm.after(sequence)
  }

  /** Notes that changes up to `floor` are forgotten. */
  raiseFloor(floor: number): void {
    if (floor <= this.#floor) return
    this.#floor = floor
    this.#onNews()
  }

  /**
   * Adds commits that this process stored.
   * @param from the head that they follow. If it is not ours, others have written: their commits are read first
   */
  async add(from: number, commits: readonly LoggedCommit[]): Promise<void> {
    if (from > this.head) return this.catchUp()
    this.#append(commits)
  }

  /** Reads what others have written. When it resolves, everything is known that was stored before the call. */
  catchUp(): Promise<void> {
    return this.#catchUp.ask()
  }

  async #read(): Promise<void> {
    for (;;) {
      const from = this.head
      const { commits, ends } = await this.#reader.after(from)
      // Watches that have not seen what is forgotten get `Gone`.
      if (ends.floor > from && ends.floor > this.head) this.#warm = new ChangeLog(WARM, ends.floor)
      else this.#append(commits)
      this.raiseFloor(ends.floor)
      if (this.head >= ends.head) return
    }
  }

  #append(commits: readonly LoggedCommit[]): void {
    // What this process wrote may have been read meanwhile, and the other way round.
    const fresh = commits.filter(({ sequence }) => sequence > this.head)
    for (const commit of fresh) this.#warm.append(commit)
    if (fresh.length > 0) this.#onNews()
  }

  async #load(sequence: number): Promise<readonly LoggedCommit[]> {
    const { commits, ends } = await this.#reader.after(sequence)
    this.raiseFloor(ends.floor)
    if (sequence < ends.floor || commits.length === 0)
      throw new SpoutError('Gone', { revision: formatRevision(this.#storeId, sequence) })
    return commits
  }
}
