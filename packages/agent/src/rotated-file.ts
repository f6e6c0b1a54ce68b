import { constants } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'

export interface RotatedFileOptions {
  readonly path: string
  /**
   * Size limit. A file that would exceed it is renamed to `<path>.1`, the file of that name to `<path>.2`, and so on.
   */
  readonly mostBytes: number
  /** Limit of files, including the one that is written to. */
  readonly files: number
  /** Called with the number of lines that could not be written, because the disk is full or too slow. */
  readonly onLost: (lines: number) => void
}

const MODE = 0o640
/** Limit of bytes that wait for the disk. Lines beyond it are lost. */
const MOST_WAITING_BYTES = 1 << 20
const MOST_WRITE_BYTES = 1 << 16

/** Appends lines to a file of bounded size. Callers never wait. */
export class RotatedFile {
  readonly #options: RotatedFileOptions
  readonly #waiting: string[] = []
  #waitingBytes = 0
  #file: FileHandle | null = null
  #size = 0
  #writing: Promise<void> | null = null

  constructor(options: RotatedFileOptions) {
    this.#options = options
  }

  /** @param line printable ASCII, without a line end */
  add(line: string): void {
    if (this.#waitingBytes + line.length >= MOST_WAITING_BYTES) {
      this.#options.onLost(1)
      return
    }
    this.#waiting.push(line)
    this.#waitingBytes += line.length + 1
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null
    })
  }

  /** Closes the file after all waiting lines were written. */
  async close(): Promise<void> {
    await this.#writing
    await this.#file?.close()
    this.#file = null
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#takeOneWrite()
      try {
        await this.#append(`${lines.join('\n')}\n`)
      } catch {
        this.#options.onLost(lines.length)
        await this.#file?.close().catch(() => {})
        this.#file = null
      }
    }
  }

  /** The lines of the next write: at most `MOST_WRITE_BYTES`, and no more than fit into one file. */
  #takeOneWrite(): readonly string[] {
    let bytes = 0
    let count = 0
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length + 1 > Math.min(MOST_WRITE_BYTES, this.#options.mostBytes)) break
      bytes += length + 1
      count++
    }
    this.#waitingBytes -= bytes
    return this.#waiting.splice(0, count)
  }

  async #append(text: string): Promise<void> {
    const { mostBytes } = this.#options
    let file = this.#file ?? (await this.#open())
    if (this.#size > 0 && this.#size + text.length > mostBytes) file = await this.#rotate(file)
    await file.appendFile(text, 'latin1')
    this.#size += text.length
  }

  async #open(): Promise<FileHandle> {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
    const file = await open(this.#options.path, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, MODE)
    this.#file = file
    await file.chmod(MODE)
    this.#size = (await file.stat()).size
    return file
  }

  async #rotate(full: FileHandle): Promise<FileHandle> {
    const { path, files } = this.#options
    this.#file = null
    await full.close()
    const nameOf = (at: number): string => (at === 0 ? path : `${path}.${at}`)
    await rm(nameOf(files - 1), { force: true })
    for (let at = files - 2; at >= 0; at--) await rename(nameOf(at), nameOf(at + 1)).catch(() => {})
    return this.#open()
  }
}
