import { base64 } from './helper-bytes.ts'
import type { NftBatch, NftChange, NftElements } from './helper-protocol/nftables.ts'

/**
 * Limit of raw bytes of elements per line. Base64 adds a third. The helper accepts lines of up to 4 MiB, but V8 keeps
 * strings of more than 128 KiB until a full garbage collection, and a bulk load has hundreds of lines.
 */
export const ELEMENT_BYTES_PER_LINE = 64 * 1024
/** Limit of changes per line. */
export const CHANGES_PER_LINE = 2048

/** One line of a batch, without its id. */
export interface BatchLine {
  readonly fields: object
  readonly last: boolean
  /** Maps the helper's count (over all lines of the transaction) to the caller's change and record. */
  readonly locate: (index: number, element?: number) => { readonly index: number; readonly element?: number }
}

/** Consecutive records of one change. */
interface Piece {
  readonly change: number
  readonly firstRecord: number
  readonly bytes: number
  readonly json: object
}

/**
 * Splits a batch of any size into lines of bounded size that form one transaction. Lazy: encodes one line at a time.
 * @throws RangeError if `elements` is not a whole number of records
 */
export function nftBatchLines(batch: NftBatch): Iterable<BatchLine> {
  for (const change of batch.changes) if (change.do !== 'flush') recordCount(change)
  return lines(batch)
}

function* lines({ changes, text, ...head }: NftBatch): Generator<BatchLine> {
  const starts: Piece[] = []
  let line: Piece[] = []
  let bytes = 0
  let part = 0
  const flush = (more: boolean): BatchLine => {
    for (const piece of line) starts.push(piece)
    const commands = part === 0 && text !== undefined ? { text } : {}
    const fields = { ...head, ...commands, changes: line.map((piece) => piece.json), part: part++, more }
    line = []
    bytes = 0
    return {
      fields,
      last: !more,
      locate: (index, element) => {
        const piece = starts[index]
        if (piece === undefined) return { index, element }
        return { index: piece.change, element: element === undefined ? undefined : piece.firstRecord + element }
      },
    }
  }
  for (const piece of pieces(changes)) {
    const full = line.length >= CHANGES_PER_LINE || (line.length > 0 && bytes + piece.bytes > ELEMENT_BYTES_PER_LINE)
    if (full) yield flush(true)
    line.push(piece)
    bytes += piece.bytes
  }
  yield flush(false)
}

function* pieces(changes: readonly NftChange[]): Generator<Piece> {
  for (const [index, change] of changes.entries()) {
    if (change.do === 'flush') {
      yield { change: index, firstRecord: 0, bytes: 0, json: { do: 'flush', set: change.set } }
      continue
    }
    const size = recordBytes(change)
    const perPiece = Math.max(1, Math.floor(ELEMENT_BYTES_PER_LINE / size))
    const { elements, keyBytes, dataBytes, ...rest } = change
    for (let first = 0; first < recordCount(change); first += perPiece) {
      const slice = elements.subarray(first * size, (first + perPiece) * size)
      yield {
        change: index,
        firstRecord: first,
        bytes: slice.byteLength,
        json: {
          ...rest,
          key: keyBytes,
          data: dataBytes,
          elements: base64(slice),
        },
      }
    }
  }
}

const recordBytes = ({ keyBytes, dataBytes = 0, interval, expr }: NftElements): number =>
  keyBytes * (interval ? 2 : 1) + dataBytes + (expr === undefined ? 0 : 4)

function recordCount(change: NftElements): number {
  const size = recordBytes(change)
  const count = change.elements.byteLength / size
  if (!Number.isInteger(count))
    throw new RangeError(
      `set ${change.set}: ${change.elements.byteLength} bytes are not a whole number of ${size}-byte records`,
    )
  return count
}
