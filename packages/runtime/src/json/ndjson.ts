/** Larger than any honest line: an entry of 10,000 members is 3 MB. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
const NEWLINE = 0x0a

/** Splits a byte stream into lines. It decodes a line only when it is whole, so no character is cut. */
export class LineSplitter {
  #parts: Buffer[] = []
  #size = 0

  /**
   * @returns the lines that this chunk completed, without their newline
   * @throws Error when a line is longer than `MAX_LINE_BYTES`
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      lines.push(this.#complete(chunk.subarray(start, end)))
      start = end + 1
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start))
    return lines
  }

  #complete(tail: Buffer): string {
    if (this.#parts.length === 0) return tail.toString('utf8')
    const line = Buffer.concat([...this.#parts, tail]).toString('utf8')
    this.#parts = []
    this.#size = 0
    return line
  }

  #keep(part: Buffer): void {
    this.#size += part.length
    if (this.#size > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes`)
    this.#parts.push(part)
  }
}
