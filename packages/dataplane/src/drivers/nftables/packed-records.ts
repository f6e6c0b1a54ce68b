import { hash } from 'node:crypto'
import { SET_NAMES, type SetName } from './sets.ts'

/**
 * Packed records by set, in one allocation, since a buffer per set would be larger than most sets' records, and there
 * are tens of thousands of entries.
 */
export class PackedRecords {
  readonly #bytes: Buffer
  /** For each set with records, in the order of SET_NAMES: its index, and the start and end of its records. */
  readonly #spans: readonly number[]

  constructor(parts: ReadonlyMap<SetName, readonly Buffer[]>) {
    const spans: number[] = []
    let length = 0
    for (let index = 0; index < SET_NAMES.length; index++) {
      const records = parts.get(SET_NAMES[index]!)
      if (records === undefined) continue
      const start = length
      for (const part of records) length += part.length
      if (length > start) spans.push(index, start, length)
    }
    // An own buffer, since a slice would keep the shared pool of small buffers alive.
    this.#bytes = Buffer.allocUnsafeSlow(length)
    this.#spans = spans
    let at = 0
    for (let span = 0; span < spans.length; span += 3)
      for (const part of parts.get(SET_NAMES[spans[span]!]!)!) at += part.copy(this.#bytes, at)
  }

  /** Of all records, in bytes. */
  get size(): number {
    return this.#bytes.length
  }

  /** The records of one set; undefined if it has none. */
  get(name: SetName): Buffer | undefined {
    for (let at = 0; at < this.#spans.length; at += 3)
      if (SET_NAMES[this.#spans[at]!] === name) return this.#bytes.subarray(this.#spans[at + 1]!, this.#spans[at + 2]!)
    return undefined
  }

  *entries(): Generator<readonly [SetName, Buffer]> {
    for (let at = 0; at < this.#spans.length; at += 3)
      yield [SET_NAMES[this.#spans[at]!]!, this.#bytes.subarray(this.#spans[at + 1]!, this.#spans[at + 2]!)]
  }

  /**
   * A digest of 128 bits over these records and this key. Computed at once, since a bulk load has tens of thousands.
   */
  digest(key: string): bigint {
    const head = Buffer.from(`${key}\n${this.#spans.join()}\n`)
    return BigInt(`0x${hash('sha256', Buffer.concat([head, this.#bytes]), 'hex').slice(0, 32)}`)
  }

  equals(other: PackedRecords): boolean {
    return this.#bytes.equals(other.#bytes) && this.#spans.join() === other.#spans.join()
  }
}
