import { ReplySocket } from '@spout/sys'

/** The proxy is gone, or does not answer. The commands may or may not have been executed. */
export class ProxyLost extends Error {
  override readonly name = 'ProxyLost'
}

/**
 * In interactive mode the reply to each command ends with an empty prompt line. Our replies never contain such a line.
 */
const PROMPT = '\n> '

/**
 * A permanent connection to HAProxy's runtime API. Commands are sent together and replies come back in order, one each.
 * The end of the connection tells that the process is gone.
 */
export class StatsSocket {
  readonly #socket: ReplySocket

  private constructor(socket: ReplySocket) {
    this.#socket = socket
  }

  /**
   * @param onLost called once when the connection ends other than by `close`
   * @throws ProxyLost
   */
  static async connect(path: string, onLost: () => void): Promise<StatsSocket> {
    const socket = await ReplySocket.connect(path, {
      requestEncoding: 'utf8',
      replyEnd: PROMPT,
      peer: 'the proxy',
      onLost,
      lost: (message) => new ProxyLost(message),
    })
    await socket.send(['prompt\n'])
    return new StatsSocket(socket)
  }

  get open(): boolean {
    return this.#socket.open
  }

  /**
   * Sends commands (each ends with its newline) in one write. Returns the replies in order, without the line ends
   * around them.
   */
  async execute(commands: readonly string[]): Promise<readonly string[]> {
    if (commands.length === 0) return []
    const replies = await this.#socket.send(commands)
    // HAProxy prints `+ ` for every line of a payload.
    return replies.map((reply) => reply.replace(/^(?:\+ )+/, '').trim())
  }

  /**
   * Sends a command (with its newline) whose reply may have tens of thousands of lines. None of them is kept.
   * @param take gets each line, and must not throw
   * @throws ProxyLost
   */
  async lines(command: string, take: (line: string) => void): Promise<void> {
    let begun = ''
    await this.#socket.read(command, (text) => {
      let from = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        take(begun + text.slice(from, end))
        begun = ''
        from = end + 1
      }
      begun += text.slice(from)
    })
    take(begun)
  }

  close(): void {
    this.#socket.close()
  }
}
