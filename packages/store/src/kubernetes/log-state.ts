import { ChangeLog, type LoggedCommit, type LogReader, type Retention } from '../change-log.ts'
import { ObjectRows } from '../object-rows.ts'
import { commitsOf, type Entry, type LeaseRow } from './entry.ts'
import type { Place, Snapshot } from './snapshot.ts'

/** An entry at its place in the log. */
export interface NumberedEntry {
  readonly number: number
  readonly id: string
  readonly entry: Entry
}

/** What the log holds is not what this process knows of it. */
export class NotFollowing extends Error {
  override readonly name = 'NotFollowing'
}

/** What is stored, in memory: the result of all entries of the log, and the newest of its changes, for watches. */
export class LogState implements LogReader {
  readonly older = null
  readonly #retention: Retention
  #rows = new ObjectRows()
  #leases = new Map<string, LeaseRow>()
  #log: ChangeLog
  #place: Place
  #floor = 0

  /** @param id of the store, which the first entry follows */
  constructor(retention: Retention, id: string) {
    this.#retention = retention
    this.#log = new ChangeLog(retention, 0)
    this.#place = { number: 0, id, head: 0 }
  }

  get head(): number {
    return this.#place.head
  }

  get floor(): number {
    return Math.max(this.#floor, this.#log.floor)
  }

  /** The newest entry. */
  get place(): Place {
    return this.#place
  }

  get rows(): ObjectRows {
    return this.#rows
  }

  lease(name: string): LeaseRow | null {
    return this.#leases.get(name) ?? null
  }

  after(sequence: number): LoggedCommit | null {
    return this.#log.after(sequence)
  }

  /**
   * Begins anew.
   * @param snapshot null: nothing is stored but the entries
   * @param entries all after the snapshot, in order; entries that the snapshot contains may come first, for watches
   */
  start(snapshot: Snapshot | null, id: string, entries: readonly NumberedEntry[]): void {
    const { number, head } = snapshot ?? { number: 0, head: 0 }
    this.#rows = new ObjectRows()
    for (const row of snapshot?.rows ?? []) this.#rows.put(row)
    this.#leases = new Map((snapshot?.leases ?? []).map((row) => [row.name, row]))
    this.#floor = snapshot?.floor ?? 0
    this.#place = { number, id: snapshot?.id ?? id, head }
    const old = entries.filter((each) => each.number <= number)
    this.#log = new ChangeLog(this.#retention, old[0]?.entry.from ?? head)
    for (const { entry } of old) this.#note(commitsOf(entry))
    for (const each of entries) this.take(each)
  }

  /**
   * Takes the next entry.
   * @param commits of the entry, if this process has them with their values
   * @returns false for an entry that is known already
   * @throws NotFollowing when it does not follow on what is known
   */
  take({ number, id, entry }: NumberedEntry, commits = commitsOf(entry)): boolean {
    if (number <= this.#place.number) return false
    if (number !== this.#place.number + 1 || entry.after !== this.#place.id || entry.from !== this.head)
      throw new NotFollowing(`entry ${number} of the log does not follow on entry ${this.#place.number}`)
    for (const commit of commits) this.#rows.apply(commit)
    if (entry.lease !== undefined) this.#leases.set(entry.lease.name, entry.lease)
    this.#place = { number, id, head: commits.at(-1)?.sequence ?? this.head }
    this.#note(commits)
    if (entry.floor !== undefined && entry.floor > this.#floor) {
      this.#floor = entry.floor
      this.#log.compact(entry.floor)
    }
    return true
  }

  snapshot(): Snapshot {
    const { number, id, head } = this.#place
    return { number, id, head, floor: this.#floor, leases: [...this.#leases.values()], rows: [...this.#rows.all()] }
  }

  #note(commits: readonly LoggedCommit[]): void {
    for (const commit of commits) this.#log.append(commit)
  }
}
