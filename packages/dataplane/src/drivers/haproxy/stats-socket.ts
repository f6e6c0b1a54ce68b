import { connect, type Socket } from 'node:net'

/** The proxy is gone, or does not answer. The commands may or may not have been executed. */
export class ProxyLost extends Error {
  override readonly name = 'ProxyLost'
}

interface Waiting {
  readonly resolve: (reply: string) => void
  readonly reject: (error: Error) => void
}

/**
 * In interactive mode the reply to each command ends with an empty prompt line. Our replies never contain such a line.
 */
const PROMPT = '\n> '
const REPLY_WITHIN_MS = 5_000

/**
 * A permanent connection to HAProxy's runtime API. Commands are sent together and replies come back in order, one each.
 * The end of the connection tells that the process is gone.
 */
export class StatsSocket {
  readonly #socket: Socket
  readonly #waiting: Waiting[] = []
  readonly #onLost: () => void
  #received = ''
  #searched = 0
  #closed = false

  private constructor(socket: Socket, onLost: () => void) {
    this.#socket = socket
    this.#onLost = onLost
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#take(text))
    socket.on('close', () => this.#end())
    socket.on('error', () => socket.destroy())
    socket.setTimeout(REPLY_WITHIN_MS, () => this.#silence())
  }

  /**
   * @param onLost called once when the connection ends other than by `close`
   * @throws ProxyLost
   */
  static async connect(path: string, onLost: () => void): Promise<StatsSocket> {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const opening = connect(path)
      opening.once('connect', () => resolve(opening))
      opening.once('error', (error) => reject(new ProxyLost(`the stats socket does not answer: ${error.message}`)))
    })
    const opened = new StatsSocket(socket, onLost)
    await opened.#send(['prompt\n'])
    return opened
  }

  get open(): boolean {
    return !this.#socket.destroyed
  }

  /**
   * Sends commands (each ends with its newline) in one write. Returns the replies in order, without the line ends
   * around them.
   */
  async execute(commands: readonly string[]): Promise<readonly string[]> {
    return commands.length === 0 ? [] : this.#send(commands)
  }

  close(): void {
    this.#closed = true
    this.#socket.destroy()
  }

  #send(commands: readonly string[]): Promise<readonly string[]> {
    if (!this.open) return Promise.reject(new ProxyLost('the proxy is gone'))
    const replies = commands.map(
      () => new Promise<string>((resolve, reject) => this.#waiting.push({ resolve, reject })),
    )
    this.#socket.write(commands.join(''))
    return Promise.all(replies)
  }

  #take(text: string): void {
    this.#received += text
    for (;;) {
      const end = this.#received.indexOf(PROMPT, this.#searched)
      if (end < 0) break
      const reply = this.#received.slice(0, end)
      this.#received = this.#received.slice(end + PROMPT.length)
      this.#searched = 0
      // HAProxy prints `+ ` for every line of a payload.
      this.#waiting.shift()?.resolve(reply.replace(/^(?:\+ )+/, '').trim())
    }
    this.#searched = Math.max(0, this.#received.length - PROMPT.length)
  }

  /** Nothing arrived for a while. This is an error only while a reply is outstanding. */
  #silence(): void {
    if (this.#waiting.length > 0) this.#socket.destroy()
  }

  #end(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(new ProxyLost('the proxy ended before it answered'))
    if (!this.#closed) this.#onLost()
  }
}
