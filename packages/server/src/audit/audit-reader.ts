import { type FileHandle, open } from 'node:fs/promises'
import { type AuditRecord, SpoutError } from '@spout/model'
import { fileNumbers, fileOf } from './audit-files.ts'

export interface AuditQuery {
  /** The record as the reader may see it; null if the reader must not know of it. */
  readonly show: (record: AuditRecord) => AuditRecord | null
  /** Only records from this time on. */
  readonly since: string | null
  readonly limit: number
  /** The previous page's `next`. */
  readonly before: string | null
}

export interface AuditPage {
  /** Newest first. */
  readonly items: readonly AuditRecord[]
  /**
   * Cursor of the next page; null at the end. A page may be short and still have one, because a page scans a limited
   * amount.
   */
  readonly next: string | null
}

const CHUNK_BYTES = 64 * 1024
/** How much one page scans. */
const MAX_SCAN_BYTES = 8 * 1024 * 1024
/** Longer than any record. */
const MAX_LINE_BYTES = 64 * 1024

interface Position {
  readonly file: number
  /** Only lines that end at or before this byte. */
  readonly endBytes: number
}

/** Reads the files of a directory backwards. @throws SpoutError InvalidField for an invalid cursor */
export async function readAudit(directory: string, query: AuditQuery, signal?: AbortSignal): Promise<AuditPage> {
  const start = query.before === null ? null : positionOf(query.before)
  const numbers = (await fileNumbers(directory)).filter((number) => start === null || number <= start.file).toReversed()
  const items: AuditRecord[] = []
  let scannedBytes = 0
  for (const number of numbers) {
    const handle = await open(fileOf(directory, number), 'r').catch(() => null)
    // The log has deleted this file meanwhile: it was the oldest.
    if (handle === null) continue
    try {
      const { size } = await handle.stat()
      const from = start?.file === number ? Math.min(start.endBytes, size) : size
      for await (const { line, startBytes } of linesBackwards(handle, from)) {
        scannedBytes += line.length + 1
        const record = parse(line)
        if (record !== null && query.since !== null && record.time < query.since) return { items, next: null }
        const shown = record === null ? null : query.show(record)
        if (shown !== null) items.push(shown)
        const isEnough = items.length >= query.limit || scannedBytes >= MAX_SCAN_BYTES || signal?.aborted === true
        if (isEnough) return { items, next: cursorOf({ file: number, endBytes: startBytes }) }
      }
    } finally {
      await handle.close()
    }
  }
  return { items, next: null }
}

/** The lines before a byte, last first. */
async function* linesBackwards(
  handle: FileHandle,
  endBytes: number,
): AsyncIterable<{ readonly line: string; readonly startBytes: number }> {
  let rest = Buffer.alloc(0)
  let at = endBytes
  while (at > 0) {
    const length = Math.min(CHUNK_BYTES, at)
    at -= length
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at)
    const chunk = Buffer.concat([buffer.subarray(0, bytesRead), rest])
    let end = chunk.length
    // The newline at the end belongs to the last line.
    for (let newline = chunk.lastIndexOf(0x0a, end - 2); end > 1 && newline >= 0; newline = previous(chunk, end)) {
      yield { line: chunk.toString('utf8', newline + 1, end).trimEnd(), startBytes: at + newline + 1 }
      end = newline + 1
    }
    rest = end > MAX_LINE_BYTES ? Buffer.alloc(0) : chunk.subarray(0, end)
  }
  if (rest.length > 0) yield { line: rest.toString('utf8').trimEnd(), startBytes: 0 }
}

const previous = (chunk: Buffer, end: number): number => (end < 2 ? -1 : chunk.lastIndexOf(0x0a, end - 2))

function parse(line: string): AuditRecord | null {
  try {
    return JSON.parse(line) as AuditRecord
  } catch {
    return null
  }
}

const cursorOf = ({ file, endBytes }: Position): string => `${file}.${endBytes}`

function positionOf(cursor: string): Position {
  const [, file, endBytes] = /^(\d{1,8})\.(\d{1,15})$/.exec(cursor) ?? []
  if (file === undefined || endBytes === undefined)
    throw new SpoutError('InvalidField', { field: 'before', reason: 'is not the `next` of an earlier page' })
  return { file: Number(file), endBytes: Number(endBytes) }
}
