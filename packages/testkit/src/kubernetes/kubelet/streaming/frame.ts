/**
 * Frames of SPDY/3.1, which the API server speaks with kubelets for streams.
 * https://www.chromium.org/spdy/spdy-protocol/spdy-protocol-draft3-1/ section 2.2
 */
export type Frame =
  | { readonly type: 'data'; readonly stream: number; readonly isLast: boolean; readonly data: Buffer }
  | { readonly type: 'open'; readonly stream: number; readonly isLast: boolean; readonly headers: Buffer }
  | { readonly type: 'reset'; readonly stream: number }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'other' }

const [SYN_STREAM, SYN_REPLY, RST_STREAM, PING] = [1, 2, 3, 6]
const CONTROL = 0x80000000
const VERSION = 3
const FIN = 1
const LAST_31_BITS = 0x7fffffff
const HEADER_BYTES = 8

/** Cuts a byte stream into frames. */
export class FrameReader {
  #left: Buffer = Buffer.alloc(0)

  /** The frames that are whole with this chunk. @throws Error for another version of SPDY */
  read(chunk: Buffer): readonly Frame[] {
    this.#left = Buffer.concat([this.#left, chunk])
    const frames: Frame[] = []
    while (this.#left.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#left.readUIntBE(5, 3)
      if (this.#left.length < end) break
      frames.push(frameOf(this.#left.subarray(0, end)))
      this.#left = this.#left.subarray(end)
    }
    return frames
  }
}

function frameOf(bytes: Buffer): Frame {
  const first = bytes.readUInt32BE(0)
  const isLast = ((bytes[4] ?? 0) & FIN) !== 0
  const body = bytes.subarray(HEADER_BYTES)
  if (first < CONTROL) return { type: 'data', stream: first, isLast, data: body }
  const version = (first & LAST_31_BITS) >>> 16
  if (version !== VERSION) throw new Error(`SPDY/${version} is not known to the test bed`)
  const type = first & 0xffff
  const stream = () => body.readUInt32BE(0) & LAST_31_BITS
  // Of the opening of a stream two more fields are before its headers: the associated stream, and a priority.
  if (type === SYN_STREAM) return { type: 'open', stream: stream(), isLast, headers: body.subarray(10) }
  if (type === RST_STREAM) return { type: 'reset', stream: stream() }
  if (type === PING) return { type: 'ping', id: body.readUInt32BE(0) }
  return { type: 'other' }
}

function control(type: number, ...body: readonly Buffer[]): Buffer {
  const payload = Buffer.concat(body)
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt32BE(CONTROL + VERSION * 0x10000 + type, 0)
  header.writeUInt32BE(payload.length, 4)
  return Buffer.concat([header, payload])
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export const replyFrame = (stream: number, headers: Buffer): Buffer => control(SYN_REPLY, word(stream), headers)

export const pingFrame = (id: number): Buffer => control(PING, word(id))

export const dataFrame = (stream: number, data: Buffer, isLast: boolean): Buffer =>
  Buffer.concat([word(stream), word((isLast ? FIN * 0x1000000 : 0) + data.length), data])
