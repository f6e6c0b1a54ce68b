import type { LogState } from './log-state.ts'
import { deleteParts, dropParts, writeParts } from './parts.ts'
import type { Records } from './records.ts'
import { type ReadRoot, readRoot, replaceRoot } from './root.ts'
import { packedSnapshot } from './snapshot.ts'

export interface SnapshotsOptions {
  readonly records: Records
  readonly state: LogState
  readonly root: ReadRoot
}

/** So many bytes of entries are read at a start beside the snapshot, or as many as the snapshot has. */
const MOST_ENTRY_BYTES = 4 * 1024 * 1024
/** A server that refused a snapshot is tried again so much later. */
const RETRY_MS = 5000

/** Writes snapshots, so that the log may begin anew in its places. Every process that writes does. */
export class Snapshots {
  readonly #records: Records
  readonly #state: LogState
  readonly #slots: number
  /** The entry that the newest known snapshot ends with. */
  #number: number
  /** Of the entries since then, as this process wrote them. */
  #entryBytes = 0
  #snapshotBytes = 0
  #failedMs = Number.NEGATIVE_INFINITY
  #failure: string | null = null
  #writing: Promise<void> | null = null

  constructor({ records, state, root }: SnapshotsOptions) {
    this.#records = records
    this.#state = state
    this.#slots = root.slots
    this.#number = root.number
  }

  /** Notes a snapshot of another process. */
  note(number: number): void {
    if (number <= this.#number) return
    this.#number = number
    this.#entryBytes = 0
  }

  /** Notes an entry that this process wrote, and begins a snapshot when there is much to read. */
  wrote(bytes: number): void {
    this.#entryBytes += bytes
    const entries = this.#state.place.number - this.#number
    const isDue = entries >= this.#slots / 2 || this.#entryBytes > Math.max(MOST_ENTRY_BYTES, this.#snapshotBytes)
    if (isDue && performance.now() - this.#failedMs > RETRY_MS) void this.#write()
  }

  /**
   * Resolves when the next entry replaces nothing that is only in the log.
   * @returns why it would, all the same; null when it does not
   */
  async room(): Promise<string | null> {
    if (this.#hasRoom()) return null
    // One that is under way may have begun long ago.
    await this.idle()
    if (!this.#hasRoom()) await this.#write()
    return this.#hasRoom() ? null : `the log is full, and no snapshot can be written: ${this.#failure}`
  }

  /** Resolves when no snapshot is under way. */
  async idle(): Promise<void> {
    await this.#writing
  }

  #hasRoom(): boolean {
    return this.#state.place.number + 1 - this.#slots <= this.#number
  }

  #write(): Promise<void> {
    this.#writing ??= this.#replace()
      .then(
        () => {
          this.#failure = null
        },
        (error: Error) => {
          this.#failure = error.message
          this.#failedMs = performance.now()
        },
      )
      .finally(() => {
        this.#writing = null
      })
    return this.#writing
  }

  async #replace(): Promise<void> {
    const records = this.#records
    // The root first: if another process replaces it meanwhile, ours is not taken.
    const root = await readRoot(records)
    if (root === null) throw new Error('the record that says where everything is was deleted')
    this.note(root.number)
    const snapshot = this.#state.snapshot()
    const { number } = snapshot
    if (number <= root.number) return
    const data = await packedSnapshot(snapshot)
    const parts = await writeParts(records, number, data)
    const replaced = await replaceRoot(records, root, { number, snapshot: parts })
    if (replaced === null) {
      // Another process was faster.
      await dropParts(records, parts)
      this.note((await readRoot(records))?.number ?? 0)
      return
    }
    this.note(number)
    this.#snapshotBytes = data.length
    await deleteParts(records, number, parts)
  }
}
