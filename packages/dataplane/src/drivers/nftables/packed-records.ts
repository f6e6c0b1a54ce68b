import { SET_NAMES, type SetName } from './sets.ts'

/**
 * Packed records by set, in one allocation: a buffer of its own per set would take more than most sets' records do, and
 * there are tens of thousands of entries.
 */
export class PackedRecords {
  readonly #bytes: Buffer
  /** For each set that has any, in the order of SET_NAMES: its index, where its records start and where they end. */
  readonly #spans: readonly number[]

  constructor(parts: ReadonlyMap<SetName, readonly Buffer[]>) {
    const spans: number[] = []
    let length = 0
    for (const [index, name] of SET_NAMES.entries()) {
      const size = parts.get(name)?.reduce((sum, part) => sum + part.length, 0) ?? 0
      if (size > 0) spans.push(index, length, length + size)
      length += size
    }
    // Exact, and not a slice of the pool of small buffers, which it would keep alive.
    this.#bytes = Buffer.allocUnsafeSlow(length)
    this.#spans = spans
    let at = 0
    for (const name of SET_NAMES) for (const part of parts.get(name) ?? []) at += part.copy(this.#bytes, at)
  }

  /** The records of one set; undefined when it has none. */
  get(name: SetName): Buffer | undefined {
    for (let at = 0; at < this.#spans.length; at += 3)
      if (SET_NAMES[this.#spans[at]!] === name) return this.#bytes.subarray(this.#spans[at + 1]!, this.#spans[at + 2]!)
    return undefined
  }

  *entries(): Generator<readonly [SetName, Buffer]> {
    for (let at = 0; at < this.#spans.length; at += 3)
      yield [SET_NAMES[this.#spans[at]!]!, this.#bytes.subarray(this.#spans[at + 1]!, this.#spans[at + 2]!)]
  }

  equals(other: PackedRecords): boolean {
    return this.#bytes.equals(other.#bytes) && this.#spans.join() === other.#spans.join()
  }
}
