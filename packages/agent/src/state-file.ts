import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Shares } from '@spout/dataplane'
import { type Edit, edited, editsBetween } from '@spout/model/edits'
import { isLargeEntry, type NodeStateEntry } from '@spout/model/node-state'
import { LineSplitter } from '@spout/runtime/ndjson'
import { formatRecord, JOURNAL_FORMAT, type JournalFormat, type JournalRecord, parseRecord } from './journal-record.ts'

/** An entry as the data plane last confirmed it. */
export interface SavedEntry {
  readonly hash: string
  readonly entry: NodeStateEntry
  readonly down: ReadonlySet<string>
  readonly shares: Shares
}

/** The journal is rewritten when it is larger than this and most of its records are outdated. */
const SLACK_BYTES = 1024 * 1024
/**
 * How many records are serialized and written at once. It bounds how long the event loop is blocked, and the size of
 * texts.
 */
const SLICE = 50
const SYNC_EVERY_MS = 1000
/** After this many edits, or one for each 4 KiB of it if that is more, a large entry is written as a whole again. */
const MOST_EDITS = 64
const CHARACTERS_OF_EDIT = 4096
/** How long after a failed write the journal is rewritten. */
const RETRY_MS = 5000

/**
 * The last good state of this node on disk: an append-only journal, rewritten when most of it is outdated.
 *
 * The data plane changes first and the journal follows, so a change never waits for the disk. Only a new announcement
 * waits until the kernel has the record (`handedOver`): otherwise, after a kill, the next process would not know which
 * load balancer has the address. A crash of the machine loses at most one second, which the next full set or the
 * drivers' `adopt` restores. If a write fails, `onError` is called and the journal is rewritten later. Forwarding never
 * depends on the journal.
 */
export class StateFile {
  readonly #path: string
  readonly #onError: (error: unknown) => void
  readonly #saved = new Map<string, SavedEntry>()
  #file: FileHandle | null = null
  #sizeBytes = 0
  /** Size at the last rewrite; 0 before the first. */
  #wholeBytes = 0
  /** Lines in the journal. Lines beyond the number of saved entries are outdated. */
  #records = 0
  /** Keys whose newest state is not in the journal yet: the entry, or only the members that are down. */
  readonly #unwritten = new Map<string, 'entry' | 'down'>()
  /** Large entries as the journal has them, and how many edits may follow before they are written as a whole. */
  readonly #written = new Map<string, { readonly saved: SavedEntry; readonly editsLeft: number }>()
  #writing: Promise<void> | null = null
  #syncing: Promise<void> | null = null
  #damaged = false
  #retryAtMs = 0
  #lastSyncMs = 0

  constructor(path: string, onError: (error: unknown) => void) {
    this.#path = path
    this.#onError = onError
  }

  /** The saved entries by key. Later changes show in it. */
  get entries(): ReadonlyMap<string, SavedEntry> {
    return this.#saved
  }

  /**
   * Reads the journal of an earlier process. If it has torn or damaged lines, leaves these out and rewrites the
   * journal.
   * @throws Error: it is of a newer agent, and this one cannot use it. Nothing was changed then
   */
  async load(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
    this.#file = await open(this.#path, 'a', 0o600)
    try {
      await this.#read()
    } catch (error) {
      await this.#file.close()
      this.#file = null
      throw error
    }
    if (this.#damaged) await this.flush()
  }

  async #read(): Promise<void> {
    const splitter = new LineSplitter()
    let wholeBytes = 0
    for await (const chunk of createReadStream(this.#path)) {
      this.#sizeBytes += (chunk as Buffer).length
      for (const line of splitter.push(chunk as Buffer)) {
        wholeBytes += Buffer.byteLength(line) + 1
        this.#records++
        const record = parseRecord(line)
        if (record === null) this.#damaged = true
        else if ('format' in record) this.#checkFormat(record.format)
        else this.#replay(record)
      }
    }
    this.#damaged ||= wholeBytes !== this.#sizeBytes
  }

  put(key: string, hash: string, entry: NodeStateEntry, down: ReadonlySet<string>, shares: Shares = NO_SHARES): void {
    const before = this.#saved.get(key)
    this.#saved.set(key, { hash, entry, down, shares })
    if (before?.hash !== hash) this.#note(key, 'entry')
    else if (!sameMembers(before.down, down) || !sameShares(before.shares, shares)) this.#note(key, 'down')
  }

  delete(key: string): void {
    if (this.#saved.delete(key)) this.#note(key, 'entry')
  }

  /** Resolves when everything so far was written, or could not be. Never rejects. */
  async flush(): Promise<void> {
    while (this.#unwritten.size > 0 || this.#damaged || this.#writing !== null) {
      const damagedBefore = this.#damaged
      this.#writing ??= this.#write()
      await this.#writing
      if (damagedBefore && this.#damaged) return
    }
  }

  /**
   * Resolves when the kernel has everything so far, so that a kill of this process loses nothing. Resolves at once
   * while writes fail.
   */
  async handedOver(): Promise<void> {
    while (this.#writing !== null && !this.#damaged) await this.#writing
  }

  async close(): Promise<void> {
    await this.flush()
    await this.#syncing
    await this.#file?.datasync().catch(this.#onError)
    await this.#file?.close()
    this.#file = null
  }

  #checkFormat({ version, usableFrom }: JournalFormat): void {
    if (usableFrom <= JOURNAL_FORMAT.version) return
    throw new Error(
      `${this.#path} has format ${version}, and this agent knows up to ${JOURNAL_FORMAT.version}: start the agent that wrote it`,
    )
  }

  #replay(record: Exclude<JournalRecord, { format: unknown }>): void {
    if ('put' in record) {
      const { hash, entry, down, shares } = record.put
      this.#saved.set(entry.key, { hash, entry, down: new Set(down), shares: new Map(shares) })
    } else if ('edit' in record) {
      const { key, from, hash, edits, down, shares } = record.edit
      const saved = this.#saved.get(key)
      // The record that this edit is based on was lost.
      if (saved?.hash !== from) this.#saved.delete(key)
      else {
        const entry = edited(saved.entry, edits) as NodeStateEntry
        this.#saved.set(key, { hash, entry, down: new Set(down), shares: new Map(shares) })
      }
    } else if ('down' in record) {
      const saved = this.#saved.get(record.down.key)
      const { key, members, shares } = record.down
      if (saved !== undefined) this.#saved.set(key, { ...saved, down: new Set(members), shares: new Map(shares) })
    } else if ('delete' in record) this.#saved.delete(record.delete)
  }

  #note(key: string, what: 'entry' | 'down'): void {
    // A damaged journal is rewritten from `#saved`, which has this change already.
    if (!this.#damaged && this.#unwritten.get(key) !== 'entry') this.#unwritten.set(key, what)
    if (this.#damaged && performance.now() < this.#retryAtMs) return
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    // Changes of the same event-loop turn are written together.
    await new Promise((resolve) => setImmediate(resolve))
    try {
      // The size counts as well as the number of records, because edits are many records with few bytes.
      const most = Math.max(SLACK_BYTES, 1.5 * this.#wholeBytes)
      const outgrown = this.#sizeBytes > most && this.#records > 2 * this.#saved.size
      if (this.#damaged || outgrown) await this.#rewrite()
      else await this.#append()
    } catch (error) {
      this.#refused(error)
    }
    this.#writing = null
    if (this.#unwritten.size > 0) this.#writing = this.#write()
  }

  /** The file may end in half a line now, which would damage the next record. */
  #refused(error: unknown): void {
    this.#damaged = true
    this.#written.clear()
    this.#unwritten.clear()
    this.#retryAtMs = performance.now() + RETRY_MS
    this.#onError(error)
  }

  async #append(): Promise<void> {
    const records = this.#sizeBytes === 0 ? [formatRecord({ format: JOURNAL_FORMAT })] : []
    for (const [key, what] of this.#unwritten) {
      this.#unwritten.delete(key)
      records.push(this.#recordOf(key, what))
      if (records.length === SLICE) break
    }
    const { bytesWritten } = await this.#opened().write(records.join(''))
    this.#sizeBytes += bytesWritten
    this.#records += records.length
    this.#sync()
  }

  /** Other records are written meanwhile, since the disk may be slow. */
  #sync(): void {
    const now = performance.now()
    if (this.#syncing !== null || now - this.#lastSyncMs < SYNC_EVERY_MS) return
    this.#lastSyncMs = now
    this.#syncing = this.#opened()
      .datasync()
      .catch((error: unknown) => this.#refused(error))
      .finally(() => {
        this.#syncing = null
      })
  }

  #recordOf(key: string, what: 'entry' | 'down'): string {
    const saved = this.#saved.get(key)
    if (saved === undefined) {
      this.#written.delete(key)
      return formatRecord({ delete: key })
    }
    const { hash, entry, down, shares } = saved
    const rising = shares.size === 0 ? {} : { shares: [...shares] }
    const edit = what === 'entry' ? this.#editOf(key, saved) : null
    if (edit !== null) return formatRecord({ edit: { key, ...edit, hash, down: [...down], ...rising } })
    if (what === 'down') return formatRecord({ down: { key, members: [...down], ...rising } })
    const record = formatRecord({ put: { hash, entry, down: [...down], ...rising } })
    if (isLargeEntry(entry))
      this.#written.set(key, { saved, editsLeft: Math.max(MOST_EDITS, record.length / CHARACTERS_OF_EDIT) })
    return record
  }

  /** The edits from the journal's version of a large entry to this one; null if the whole entry must be written. */
  #editOf(key: string, saved: SavedEntry): { readonly from: string; readonly edits: readonly Edit[] } | null {
    const before = this.#written.get(key)
    this.#written.delete(key)
    if (before === undefined || before.editsLeft < 1 || !isLargeEntry(saved.entry)) return null
    const edits = editsBetween(before.saved.entry, saved.entry)
    if (edits === null) return null
    this.#written.set(key, { saved, editsLeft: before.editsLeft - 1 })
    return { from: before.saved.hash, edits }
  }

  /** A change during the rewrite may be written both in it and after it. The last record counts. */
  async #rewrite(): Promise<void> {
    const fresh = `${this.#path}.new`
    const file = await open(fresh, 'w', 0o600)
    let sizeBytes = 0
    let written = 0
    try {
      this.#unwritten.clear()
      this.#written.clear()
      this.#damaged = false
      let records = [formatRecord({ format: JOURNAL_FORMAT })]
      const writeSlice = async () => {
        sizeBytes += (await file.write(records.join(''))).bytesWritten
        written += records.length
        records = []
      }
      for (const key of this.#saved.keys()) {
        records.push(this.#recordOf(key, 'entry'))
        if (records.length === SLICE) await writeSlice()
      }
      await writeSlice()
      await file.datasync()
      await rename(fresh, this.#path)
    } catch (error) {
      await file.close()
      throw error
    }
    await this.#syncing
    await this.#file?.close()
    this.#file = file
    this.#sizeBytes = sizeBytes
    this.#wholeBytes = sizeBytes
    this.#records = written
    await syncDirectory(dirname(this.#path))
  }

  #opened(): FileHandle {
    if (this.#file === null) throw new Error('the state file is not open')
    return this.#file
  }
}

const NO_SHARES: Shares = new Map()
const sameShares = (a: Shares, b: Shares): boolean =>
  a === b || (a.size === b.size && [...a].every(([id, share]) => b.get(id) === share))
const sameMembers = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => a.size === b.size && b.isSubsetOf(a)

/** Makes a rename durable. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
