import { connect, type Socket } from 'node:net'
import { twoBytes } from './message.ts'

/** Messages over one TCP connection, each behind its length (RFC 7766 section 8). */
export class TcpSession {
  readonly #socket: Socket
  readonly #deadline: AbortSignal
  #received = Buffer.alloc(0)
  #failure: Error | null = null
  #wake: () => void = () => {}

  /** @param timeoutMs for all of it */
  constructor({ host, port }: { readonly host: string; readonly port: number }, timeoutMs: number) {
    this.#deadline = AbortSignal.timeout(timeoutMs)
    this.#socket = connect({ host, port, noDelay: true })
    this.#socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, typeof bytes === 'string' ? Buffer.from(bytes) : bytes])
      this.#wake()
    })
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the server closed the connection')))
    this.#deadline.addEventListener('abort', () => this.#fail(new Error(`no answer within ${timeoutMs} ms`)))
  }

  send(message: Buffer): void {
    this.#socket.write(Buffer.concat([twoBytes(message.length), message]))
  }

  /** @throws Error when the connection breaks or the time is over */
  async receive(): Promise<Buffer> {
    for (;;) {
      const message = this.#next()
      if (message !== null) return message
      if (this.#failure !== null) throw this.#failure
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  #next(): Buffer | null {
    if (this.#received.length < 2) return null
    const end = 2 + this.#received.readUInt16BE(0)
    if (this.#received.length < end) return null
    const message = this.#received.subarray(2, end)
    this.#received = this.#received.subarray(end)
    return message
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#socket.destroy()
    this.#wake()
  }
}
