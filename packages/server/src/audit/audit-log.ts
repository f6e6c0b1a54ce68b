import { mkdirSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import path from 'node:path'
import type { AuditRecord } from '@spout/model'
import { type Clock, type Component, type Logger, Mutex, type Timer } from '@spout/runtime'
import { fileNumbers, fileOf } from './audit-files.ts'
import { type AuditPage, type AuditQuery, readAudit } from './audit-reader.ts'
import type { AuditSink } from './audit-requests.ts'

export interface AuditLogOptions {
  readonly directory: string
  readonly clock: Clock
  readonly log: Logger
  readonly fileLimitBytes: number
  /** How many files are kept. Opening one more deletes the oldest. */
  readonly fileLimit: number
}

const FLUSH_AFTER_MS = 200
const RETRY_AFTER_MS = 1000
/** Limit of records that wait for the disk. More are lost and counted. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024

interface OpenFile {
  readonly handle: FileHandle
  readonly number: number
  sizeBytes: number
}

/**
 * Records who did what, as JSON lines in numbered files. No request waits for it: records are written in batches soon
 * after they arrive. While the disk fails, requests go on and records wait in bounded memory; beyond that they are
 * lost and counted. A killed process loses the records of the last 200 ms.
 */
export class AuditLog implements AuditSink, Component {
  readonly name = 'audit-log'
  readonly #options: AuditLogOptions
  readonly #writes = new Mutex()
  #waiting: string[] = []
  #waitingBytes = 0
  #timer: Timer | null = null
  #file: OpenFile | null = null
  #isFailing = false
  #lost = 0
  #leftOut = 0

  constructor(options: AuditLogOptions) {
    this.#options = options
  }

  /** Records that were lost because the disk failed. */
  get lost(): number {
    return this.#lost
  }

  /** Records of refused requests that were left out because there were too many (see `auditRequests`). */
  get strangersLeftOut(): number {
    return this.#leftOut
  }

  start(): void {
    mkdirSync(this.#options.directory, { recursive: true, mode: 0o700 })
  }

  async stop(): Promise<void> {
    await this.flush()
    this.#timer?.clear()
    await this.#writes.run(() => this.#close())
  }

  record(record: AuditRecord): void {
    const line = `${JSON.stringify(record)}\n`
    if (this.#waitingBytes + line.length > MAX_WAITING_BYTES) {
      this.#lost++
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.length
    this.#schedule(FLUSH_AFTER_MS)
  }

  leftOut(): void {
    this.#leftOut++
  }

  /** Newest first, including everything recorded so far. @throws SpoutError for an invalid cursor */
  async read(query: AuditQuery, signal?: AbortSignal): Promise<AuditPage> {
    await this.flush()
    return readAudit(this.#options.directory, query, signal)
  }

  /** Resolves when everything recorded so far is written or lost. */
  flush(): Promise<void> {
    return this.#writes.run(() => this.#write())
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== null) return
    this.#timer = this.#options.clock.setTimer(() => {
      this.#timer = null
      void this.flush()
    }, delayMs)
  }

  async #write(): Promise<void> {
    if (this.#waiting.length === 0) return
    const lines = this.#waiting
    const bytes = Buffer.from(lines.join(''))
    this.#waiting = []
    const { log } = this.#options
    try {
      const file = await this.#open()
      await file.handle.appendFile(bytes)
      file.sizeBytes += bytes.length
      this.#waitingBytes = this.#waiting.reduce((sum, line) => sum + line.length, 0)
      if (this.#isFailing) log.info({ event: 'audit-log-resumed', lost: this.#lost }, 'the audit log is written again')
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing)
        log.error({ event: 'audit-log-failed', err: error }, 'the audit log cannot be written; requests go on')
      this.#isFailing = true
      this.#waiting = [...lines, ...this.#waiting]
      await this.#abandon()
      this.#schedule(RETRY_AFTER_MS)
    }
  }

  /** The file to append to: the newest one, or a new one if that is full. */
  async #open(): Promise<OpenFile> {
    const { directory, fileLimitBytes } = this.#options
    if (this.#file !== null && this.#file.sizeBytes < fileLimitBytes) return this.#file
    const number = this.#file === null ? ((await fileNumbers(directory)).at(-1) ?? 1) : this.#file.number + 1
    await this.#close()
    const handle = await open(fileOf(directory, number), 'a+', 0o600)
    const { size } = await handle.stat()
    const file: OpenFile = { handle, number, sizeBytes: size }
    this.#file = file
    // A line that a crash cut off must not join the next one.
    if (size > 0 && !(await endsLine(handle, size))) {
      await handle.appendFile('\n')
      file.sizeBytes++
    }
    if (size >= fileLimitBytes) return this.#open()
    await this.#removeOldest()
    return file
  }

  async #removeOldest(): Promise<void> {
    const { directory, fileLimit } = this.#options
    const numbers = await fileNumbers(directory)
    for (const number of numbers.slice(0, Math.max(0, numbers.length - fileLimit)))
      await rm(fileOf(directory, number), { force: true })
  }

  /** Removes the partial line that a failed write may have left. The whole line is written again later. */
  async #abandon(): Promise<void> {
    const file = this.#file
    if (file !== null) await file.handle.truncate(file.sizeBytes).catch(() => {})
    await this.#close().catch(() => {})
  }

  async #close(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.handle.close()
  }
}

async function endsLine(handle: FileHandle, sizeBytes: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, sizeBytes - 1)
  return buffer[0] === 0x0a
}

/** The audit log's place in a state directory. */
export const auditDirectory = (stateDirectory: string): string => path.join(stateDirectory, 'audit')
