import { connect, type Socket } from 'node:net'

export interface ReplySocketOptions {
  readonly requestEncoding: 'utf8' | 'latin1'
  /** What ends each reply. No reply contains it. */
  readonly replyEnd: string
  /** For messages: who answers, such as `the proxy`. */
  readonly peer: string
  /** Called once when the connection ends other than by `close`. */
  readonly onLost: () => void
  /** Makes the error of a request that gets no reply. */
  readonly lost: (message: string) => Error
  /** While a reply is outstanding, the connection ends after this time without a byte. Default 5 s. */
  readonly replyWithinMs?: number
  /** A longer reply ends the connection, in characters of latin1. Default: any length. */
  readonly longestReply?: number
}

interface Waiting {
  readonly resolve: (reply: string) => void
  readonly reject: (error: Error) => void
  /** Gets the reply piece by piece, in place of `resolve`. Absent: the reply is kept until it is whole. */
  readonly onPiece?: (text: string) => void
}

/**
 * A permanent connection over a UNIX stream socket. Requests are sent at once. Each gets one reply, in the order of the
 * requests, read as latin1. If the connection ends, the process behind it is gone.
 */
export class ReplySocket {
  readonly #socket: Socket
  readonly #options: ReplySocketOptions
  readonly #waiting: Waiting[] = []
  /** What has arrived of the next reply. */
  #pieces: string[] = []
  /** Its last characters, as many as may belong to its end. */
  #tail = ''
  #length = 0
  #closed = false

  private constructor(socket: Socket, options: ReplySocketOptions) {
    this.#socket = socket
    this.#options = options
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#take(text))
    socket.on('close', () => this.#end())
    socket.on('error', () => socket.destroy())
    // Nothing arrived for a while. This is an error only while a reply is outstanding.
    socket.setTimeout(options.replyWithinMs ?? 5_000, () => {
      if (this.#waiting.length > 0) socket.destroy()
    })
  }

  /** @throws what `lost` makes */
  static async connect(path: string, options: ReplySocketOptions): Promise<ReplySocket> {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const opening = connect(path)
      opening.once('connect', () => resolve(opening))
      opening.once('error', ({ message }) => reject(options.lost(`${options.peer} does not answer: ${message}`)))
    })
    return new ReplySocket(socket, options)
  }

  get open(): boolean {
    return !this.#socket.destroyed
  }

  /**
   * Sends requests in one write. @returns their replies, in order
   * @throws what `lost` makes: the requests may or may not have been executed
   */
  send(requests: readonly string[]): Promise<readonly string[]> {
    if (!this.open) return Promise.reject(this.#options.lost(`${this.#options.peer} is gone`))
    const replies = requests.map(
      () => new Promise<string>((resolve, reject) => this.#waiting.push({ resolve, reject })),
    )
    this.#socket.write(requests.join(''), this.#options.requestEncoding)
    return Promise.all(replies)
  }

  /**
   * Sends a request whose reply may be megabytes, which are not kept: `onPiece` gets it piece by piece. Must not throw.
   * @throws what `lost` makes: the request may or may not have been executed
   */
  async read(request: string, onPiece: (text: string) => void): Promise<void> {
    if (!this.open) throw this.#options.lost(`${this.#options.peer} is gone`)
    const whole = new Promise<string>((resolve, reject) => this.#waiting.push({ resolve, reject, onPiece }))
    this.#socket.write(request, this.#options.requestEncoding)
    await whole
  }

  close(): void {
    this.#closed = true
    this.#socket.destroy()
  }

  #take(text: string): void {
    const { replyEnd, longestReply = Number.POSITIVE_INFINITY } = this.#options
    this.#pieces.push(text)
    this.#length += text.length
    // A reply of megabytes comes in hundreds of pieces, so only the newest one is searched, and the seam before it.
    const mayBeEnd = replyEnd.length - 1
    if (text.includes(replyEnd) || (this.#tail + text.slice(0, mayBeEnd)).includes(replyEnd))
      this.#answer(this.#pieces.join(''))
    else {
      this.#tail = lastOf(text.length < mayBeEnd ? this.#tail + text : text, mayBeEnd)
      this.#pass()
    }
    if (this.#length > longestReply) this.#socket.destroy()
  }

  /** Passes on what has arrived of a reply that is not kept, but not what may be its end. */
  #pass(): void {
    const onPiece = this.#waiting[0]?.onPiece
    if (onPiece === undefined) return
    const received = this.#pieces.join('')
    this.#pieces = [this.#tail]
    onPiece(received.slice(0, received.length - this.#tail.length))
  }

  /** @param received at least one whole reply */
  #answer(received: string): void {
    const { replyEnd } = this.#options
    const replies = received.split(replyEnd)
    const rest = replies.pop() ?? ''
    this.#pieces = [rest]
    this.#length = rest.length
    this.#tail = lastOf(rest, replyEnd.length - 1)
    for (const reply of replies) {
      const waiting = this.#waiting.shift()
      waiting?.onPiece?.(reply)
      waiting?.resolve(waiting.onPiece === undefined ? reply : '')
    }
    if (rest !== '') this.#pass()
  }

  #end(): void {
    const { lost, peer, onLost } = this.#options
    for (const { reject } of this.#waiting.splice(0)) reject(lost(`${peer} ended before it answered`))
    if (!this.#closed) onLost()
  }
}

const lastOf = (text: string, count: number): string => text.slice(Math.max(0, text.length - count))
