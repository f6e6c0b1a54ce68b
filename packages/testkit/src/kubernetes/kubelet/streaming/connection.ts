import { Duplex } from 'node:stream'
import { dataFrame, type Frame, FrameReader, pingFrame, replyFrame } from './frame.ts'
import { HeaderBlocks } from './header-blocks.ts'

/** One stream of a connection. What comes is kept until it is read: the protocol of the API server has no windows. */
export class SpdyStream extends Duplex {
  readonly headers: ReadonlyMap<string, string>
  readonly #send: (data: Buffer, isLast: boolean, done: () => void) => void

  constructor(headers: ReadonlyMap<string, string>, send: (data: Buffer, isLast: boolean, done: () => void) => void) {
    super({ allowHalfOpen: true })
    this.headers = headers
    this.#send = send
    // Who resets a stream has lost interest in it.
    this.on('error', () => {})
  }

  override _read(): void {}

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#send(chunk, false, done)
  }

  override _final(done: () => void): void {
    this.#send(Buffer.alloc(0), true, done)
  }
}

/** The server's side of a SPDY/3.1 connection whose streams the client opens. */
export class SpdyConnection {
  readonly #socket: Duplex
  readonly #opened: (stream: SpdyStream) => void
  readonly #blocks = new HeaderBlocks()
  readonly #streams = new Map<number, SpdyStream>()

  constructor(socket: Duplex, opened: (stream: SpdyStream) => void) {
    this.#socket = socket
    this.#opened = opened
  }

  /** Reads until the connection ends, and then ends its streams. */
  async run(): Promise<void> {
    const reader = new FrameReader()
    try {
      for await (const chunk of this.#socket) for (const frame of reader.read(chunk as Buffer)) await this.#take(frame)
    } catch {
      // It broke: the same as its end.
    } finally {
      this.#socket.destroy()
      for (const stream of this.#streams.values()) stream.destroy()
    }
  }

  /** Ends the connection once all that was written is sent. */
  end(): void {
    this.#socket.end()
  }

  async #take(frame: Frame): Promise<void> {
    if (frame.type === 'open') await this.#open(frame.stream, frame.headers)
    if (frame.type === 'ping') this.#socket.write(pingFrame(frame.id))
    if (frame.type === 'other' || frame.type === 'ping') return
    const stream = this.#streams.get(frame.stream)
    if (frame.type === 'data' && frame.data.length > 0) stream?.push(frame.data)
    if (frame.type === 'reset') stream?.destroy()
    else if (frame.isLast) stream?.push(null)
  }

  async #open(id: number, block: Buffer): Promise<void> {
    const stream = new SpdyStream(await this.#blocks.read(block), (data, isLast, done) => {
      if (this.#socket.writable) this.#socket.write(dataFrame(id, data, isLast), () => done())
      else done()
    })
    stream.once('close', () => this.#streams.delete(id))
    this.#streams.set(id, stream)
    this.#socket.write(replyFrame(id, await this.#blocks.empty()))
    this.#opened(stream)
  }
}
